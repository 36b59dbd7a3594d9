#include "ai/extractive/corpus.hpp"

#include <string>
#include <string_view>
#include <unordered_set>

namespace indx {
namespace {

// Function words, and verbs and adverbs too common to name a topic. English, then German, French,
// Spanish, Russian.
constexpr std::string_view kStopWords =
    " a about above across actually after again against ago all almost along already also although "
    "always am among an and"
    " another any anyone anything are aren't around as ask at away back be became because become "
    "been before began behind being"
    " below best better between big both bring but by call called came can can't cannot come comes "
    "could couldn't did didn't"
    " different do does doesn't doing don't done down during each early eg either else end enough "
    "especially etc even ever every"
    " everyone everything example far feel few find first five for found four from full further "
    "gave get gets getting give given"
    " gives go goes going gone good got great had hadn't has hasn't have haven't having he he'd "
    "he'll he's held help her here"
    " here's hers herself high him himself his how how's however i i'd i'll i'm i've ie if "
    "important in include included"
    " including indeed instead into is isn't it it'd it'll it's its itself just keep kept kind "
    "knew know known large last later"
    " least less let let's like likely little long look looked looks lot low made mainly make "
    "makes making many may maybe me"
    " mean means might mine more most mostly much must my myself near nearly need needs neither "
    "never new next nice no nobody"
    " none nor not nothing now of off often oh ok old on once one ones only onto open or other "
    "others otherwise ought our ours"
    " ourselves out over own part people per perhaps please possible probably put quite rather "
    "read real really right run said"
    " same saw say says second see seem seemed seems seen self set several shall she she'd she'll "
    "she's should shouldn't show"
    " shown side simple simply since six small so some someone something sometimes soon still such "
    "sure take taken takes taking"
    " tell ten than that that's the their theirs them themselves then there there's therefore "
    "these they they'd they'll they're"
    " they've thing things think third this those though thought three through thus till to today "
    "together told too took toward"
    " towards tried try turn two under until up upon us use used useful uses using usually various "
    "very via want wanted was"
    " wasn't way ways we we'd we'll we're we've well went were weren't what what's when where "
    "whether which while who who's"
    " whole whom whose why will with within without won't work works would wouldn't write yes yet "
    "you you'd you'll you're"
    " you've your yours yourself yourselves"
    " aber alle allem allen aller alles als also am an andere anderen auch auf aus bei beim bin "
    "bis bist da damit dann das dass"
    " dein deine dem den denn der des dich die dies diese diesem diesen dieser dieses dir doch "
    "dort du durch ein eine einem"
    " einen einer eines er es etwas euch euer für gegen gibt haben hat hatte hier hin hinter ich "
    "ihm ihn ihnen ihr ihre ihrem"
    " ihren im immer in ins ist ja jede jedem jeden jeder jedes jetzt kann kein keine keinen "
    "können machen man mehr mein meine"
    " mich mir mit muss müssen nach nicht nichts noch nun nur ob oder ohne schon sehr sein seine "
    "seinem seinen sich sie sind so"
    " solche soll sollte sondern sonst über um und uns unser unter viel vom von vor war waren "
    "warum was weil welche wenn wer"
    " werden wie wieder will wir wird wo wurde zu zum zur zwar zwischen"
    " ai aux avec avoir avait beaucoup bien car ce cela celle ces cet cette chaque chez comme "
    "comment dans de depuis des deux"
    " donc du elle elles en encore entre est et était être eu fait faire fois font il ils je "
    "jusque la le les leur leurs lors lui"
    " là ma mais me même mes moi moins mon ne nos notre nous on ont ou où par parce pas pendant "
    "peu peut plus pour pourquoi qu"
    " quand que quel quelle qui sa sans se ses si son sont sous sur ta te tes toi ton tous tout "
    "toute toutes très tu un une vers"
    " vos votre vous y à"
    " al algo algunas algunos ante antes aquí así aunque cada como con contra cual cuando cómo del "
    "desde donde dos durante el"
    " ella ellos en entre era es esa ese eso esta estaba estado estar estas este esto estos está "
    "están fue fueron ha hacer hacia"
    " han hasta hay la las lo los mi mis mucho muy más ni nos nosotros nuestra nuestro o otra otro "
    "otros para pero poco por"
    " porque puede que qué quien se sea ser si sido sin sobre solo son su sus sí también tan tanto "
    "tener tiene toda todo todos tu"
    " un una uno unos ya yo"
    " а без более был была были было быть в вам вас весь во вот все всего всех вы где да даже для "
    "до его ее если есть еще же за"
    " здесь и из или им их к как когда которая которые который кто ли либо мне может можно мой мы "
    "на надо наш не него нее нет ни"
    " них но ну о об однако он она они оно от очень по под после потом потому при про с свой себя "
    "сейчас со так также такой там"
    " тем то того тоже только том тот ты у уже хотя чего чем что чтобы эта эти это этого этой этот "
    "я ";

}  // namespace

bool is_stop_word(std::string_view folded_word) {
  static const auto* const words = [] {
    auto* all =
        new std::unordered_set<std::string_view>;  // never freed: used until the end of the process
    for (std::size_t at = 1; at < kStopWords.size();) {
      const auto end = kStopWords.find(' ', at);
      all->insert(kStopWords.substr(at, end - at));
      at = end + 1;
    }
    return all;
  }();
  return words->contains(folded_word);
}

}  // namespace indx
