#include "actors/vault_watcher.hpp"

#include "actors/folder_watch.hpp"

#include <caf/actor_system.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

namespace indx {
namespace {

struct WatcherState {
  std::optional<FolderWatch> watch;
  inline static const char* name = "vault_watcher";
};

WatcherActor::behavior_type vault_watcher(WatcherActor::stateful_pointer<WatcherState> self,
                                          Parts* parts, Directory* directory) {
  // Short enough that a stop is not held up, long enough to cost nothing when idle.
  constexpr std::chrono::milliseconds kWait{200}, kQuiet{20};
  self->state.watch.emplace(parts->vault.root());
  // What changed between the scan's listing and this moment is found by another comparison.
  caf::anon_send(directory->get<IndexerActor>(), atom::scan_atom::value, ScanRequest{});
  self->send(self, atom::tick_atom::value);
  return {
      [self, parts, directory](atom::tick_atom) {
        const auto changes = self->state.watch->wait(kWait, kQuiet);
        IndexRequest seen{{}, true};
        for (const auto& path : changes.paths) {
          const auto note = NotePath::parse(path);
          if (!note.has_value() || note->is_ignored()) continue;
          const auto file = parts->vault.read(*note);
          seen.files.push_back({note->str(), file.has_value() ? file->etag : ""});
        }
        seen.then_scan = changes.needs_rescan;
        if (!seen.files.empty() || seen.then_scan)
          caf::anon_send(directory->get<WriterActor>(), atom::seen_atom::value, std::move(seen));
        self->send(self, atom::tick_atom::value);
      },
  };
}

}  // namespace

WatcherActor spawn_vault_watcher(caf::actor_system& system, Parts* parts, Directory* directory) {
  return system.spawn<caf::detached>(vault_watcher, parts, directory);
}

}  // namespace indx
