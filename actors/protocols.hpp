#pragma once
#include "actors/messages.hpp"

#include <caf/allowed_unsafe_message_type.hpp>
#include <caf/atom.hpp>
#include <caf/type_id.hpp>
#include <caf/typed_actor.hpp>

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(indx::StateChange)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(indx::Reply)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(indx::Claimed)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(indx::WriteOrder)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(indx::IndexRequest)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(indx::ScanRequest)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(indx::VectorChange)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(indx::EtagCheck)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(indx::EventBatch)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(indx::SubscribeRequest)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(indx::ModelCall)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(indx::ModelReply)

CAF_BEGIN_TYPE_ID_BLOCK(indx, caf::first_custom_type_id)
CAF_ADD_TYPE_ID(indx, (indx::StateChange))
CAF_ADD_TYPE_ID(indx, (indx::Reply))
CAF_ADD_TYPE_ID(indx, (indx::Claimed))
CAF_ADD_TYPE_ID(indx, (indx::WriteOrder))
CAF_ADD_TYPE_ID(indx, (indx::IndexRequest))
CAF_ADD_TYPE_ID(indx, (indx::ScanRequest))
CAF_ADD_TYPE_ID(indx, (indx::VectorChange))
CAF_ADD_TYPE_ID(indx, (indx::EtagCheck))
CAF_ADD_TYPE_ID(indx, (indx::EventBatch))
CAF_ADD_TYPE_ID(indx, (indx::SubscribeRequest))
CAF_ADD_TYPE_ID(indx, (indx::ModelCall))
CAF_ADD_TYPE_ID(indx, (indx::ModelReply))
CAF_ADD_ATOM(indx, indx::atom, change_atom, "change")
CAF_ADD_ATOM(indx, indx::atom, commit_atom, "commit")
CAF_ADD_ATOM(indx, indx::atom, claim_atom, "claim")
CAF_ADD_ATOM(indx, indx::atom, tick_atom, "tick")
CAF_ADD_ATOM(indx, indx::atom, write_atom, "write")
CAF_ADD_ATOM(indx, indx::atom, perform_atom, "perform")
CAF_ADD_ATOM(indx, indx::atom, pump_atom, "pump")
CAF_ADD_ATOM(indx, indx::atom, check_atom, "check")
CAF_ADD_ATOM(indx, indx::atom, seen_atom, "seen")
CAF_ADD_ATOM(indx, indx::atom, index_atom, "index")
CAF_ADD_ATOM(indx, indx::atom, scan_atom, "scan")
CAF_ADD_ATOM(indx, indx::atom, slice_atom, "slice")
CAF_ADD_ATOM(indx, indx::atom, vectors_atom, "vectors")
CAF_ADD_ATOM(indx, indx::atom, publish_atom, "publish")
CAF_ADD_ATOM(indx, indx::atom, join_atom, "join")
CAF_ADD_ATOM(indx, indx::atom, leave_atom, "leave")
CAF_ADD_ATOM(indx, indx::atom, run_atom, "run")
CAF_ADD_ATOM(indx, indx::atom, model_atom, "model")
CAF_ADD_ATOM(indx, indx::atom, drain_atom, "drain")
CAF_ADD_ATOM(indx, indx::atom, crash_atom, "crash")
CAF_ADD_ATOM(indx, indx::atom, watch_atom, "watch")
CAF_ADD_ATOM(indx, indx::atom, spare_atom, "spare")
CAF_ADD_ATOM(indx, indx::atom, prune_atom, "prune")
CAF_END_TYPE_ID_BLOCK(indx)

namespace indx {

/// Owns the write connection of state.db; every other actor changes state through it (G1).
using StateActor = caf::typed_actor<
    /// Applies a change in the next group commit; the reply follows the sync.
    caf::replies_to<atom::change_atom, StateChange>::with<Reply>,
    /// Commits what has gathered, or looks for jobs.
    caf::reacts_to<atom::commit_atom>,
    /// Stores what runners owe, and puts back what they do not take.
    caf::reacts_to<atom::commit_atom, atom::tick_atom>,
    /// Looks at time limits.
    caf::reacts_to<atom::watch_atom>,
    /// Heartbeat, due jobs, upkeep. Sent by the actor to itself.
    caf::reacts_to<atom::tick_atom>,
    /// Storage failed at a claim: another try.
    caf::reacts_to<atom::claim_atom, atom::tick_atom>,
    /// The next chunk of old rows. Sent by the actor to itself.
    caf::reacts_to<atom::prune_atom>>;

/// Puts note writes in order: guard, intent, replace, done (section 4, G2).
using WriterActor = caf::typed_actor<
    /// Changes one note; the answer is a WriteOutcome.
    caf::replies_to<atom::write_atom, WriteOrder>::with<Reply>,
    /// Compares etags on disk; the answer lists `{path, expected, actual}` of those that differ.
    caf::replies_to<atom::check_atom, EtagCheck>::with<Reply>,
    /// What the watcher saw; own writes are left out, the rest goes to the indexer.
    caf::reacts_to<atom::seen_atom, IndexRequest>,
    /// Starts what may start. Sent by the actor to itself.
    caf::reacts_to<atom::pump_atom>,
    /// Replaces the files of what was promised by now. Sent by the actor to itself.
    caf::reacts_to<atom::perform_atom>,
    /// Has what was written by now indexed. Sent by the actor to itself.
    caf::reacts_to<atom::index_atom>,
    /// Answers when no write is in flight.
    caf::replies_to<atom::drain_atom>::with<Reply>>;

/// Owns the write connection of index.db, and the graph of vectors.
using IndexerActor = caf::typed_actor<
    /// Brings a few files up to date; answers after the commit with the paths that failed.
    caf::replies_to<atom::index_atom, IndexRequest>::with<Reply>,
    /// Compares files with the index and catches up in slices; answers with counts at the end. Or
    /// one of the other acts, which wait for their turn behind it.
    caf::replies_to<atom::scan_atom, ScanRequest>::with<Reply>,
    /// Changes the rows of vectors; answers after the commit.
    caf::replies_to<atom::vectors_atom, VectorChange>::with<Reply>,
    /// The next slice. Sent by the actor to itself.
    caf::reacts_to<atom::slice_atom>,
    /// The next piece of work on the graph of vectors. Sent by the actor to itself.
    caf::reacts_to<atom::vectors_atom>>;

/// Fans events out to subscribers, in id order.
using EventBusActor =
    caf::typed_actor<caf::reacts_to<atom::publish_atom, EventBatch>,
                     /// Replays what follows the given id, then goes on live.
                     caf::replies_to<atom::join_atom, SubscribeRequest>::with<Reply>,
                     caf::reacts_to<atom::leave_atom, std::int64_t>>;

/// Writes the tail of the events table to events.log.
using AuditActor = caf::typed_actor<
    /// There may be new events.
    caf::reacts_to<atom::tick_atom>,
    /// Answers when everything committed so far is in the file.
    caf::replies_to<atom::drain_atom>::with<Reply>>;

/// Makes one provider call at a time.
using AiOpActor = caf::typed_actor<caf::replies_to<atom::model_atom, ModelCall>::with<ModelReply>>;

/// Runs one job at a time: claims, runs, records, claims again.
using RunnerActor = caf::typed_actor<
    /// Asks for a job. Sent by the actor to itself.
    caf::reacts_to<atom::run_atom>,
    /// The job that it asked for.
    caf::reacts_to<atom::claim_atom, Claimed>>;

/// Lifetimes of all others.
using SupervisorActor = caf::typed_actor<
    /// Ends the named child as a crash would; for tests of recovery.
    caf::reacts_to<atom::crash_atom, std::string>,
    /// A runner does not come back from its handler: another one starts in its place.
    caf::reacts_to<atom::spare_atom>>;

/// Looks at the folder and reports files that changed.
using WatcherActor = caf::typed_actor<caf::reacts_to<atom::tick_atom>>;

}  // namespace indx
