"""The page that a person signs: the verdict first, then what it rests on, then the annexes that are filed."""

from __future__ import annotations

from markupsafe import Markup

from deniable.audit.results import NO_BOUND, Table
from deniable.audit.shares import Share
from deniable.decision.decision import Decision, accuracy
from deniable.decision.rehearsal import Rehearsal
from deniable.report.markup import code, phrase, strong
from deniable.report.page import Page
from deniable.report.wording import percent, percent_up, words

_MOST_EXPOSED = 15
_ROOM_TO_SIGN = Markup("&nbsp;<br>&nbsp;")


def decision_page(decision: Decision) -> Page:
    """Return the page about one decision. It quotes the private text, and stays with the data holder."""
    verdict = decision.verdict
    page = Page(
        verdict.answer.capitalize(),
        lead=verdict.headline,
        kicker=f"{decision.source.name} · {decision.created[:10]}",
    )
    page.add_note(
        "This page is private: it quotes texts of your file. It stays in the folder keep, with the receipt.",
        kind="warning",
    )
    for heading, listed in (("Why", verdict.reasons), ("What would change the verdict", verdict.changes)):
        if listed:
            page.add_section(heading)
            page.add_list(listed)
    _add_findings(page, decision)
    _add_use(page, decision)
    _add_columns(page, decision)
    _add_people(page, decision)
    _add_annexes(page, decision)
    return page


def _add_findings(page: Page, decision: Decision) -> None:
    rehearsal, best = decision.rehearsal, decision.rehearsal.best_attack
    facts = [(percent(decision.limit), "is the limit")]
    if best is not None:
        facts.insert(0, (_in_words(best.share), f"for the best attack measured ({best.reader})"))
    if rehearsal.bound is not None:
        at_most = percent_up(rehearsal.bound.high)
        facts = [
            (at_most, "of the words at most, for any reader of single words"),
            (percent(rehearsal.bound.blind), "by guessing, without the release"),
            *facts,
        ]
    page.add_section("The numbers")
    page.add_facts(facts)
    page.add_list(decision.numbers.in_words())
    page.add_section(
        "Before and after",
        "From a rehearsal draw, not from the file that is handed over. Look for what a reader who knows the "
        "people could recognise.",
    )
    page.add_table(["original", "released"], rehearsal.samples, text_columns=2, quotes=True)
    page.add_section("Attacks on this text")
    for table in attack_tables(rehearsal):
        page.add_table(table.columns, table.rows, caption=table.caption)


def attack_tables(rehearsal: Rehearsal) -> list[Table]:
    """Return what each reader reached, below the bound, which words of lists came out, and which are
    exposed."""
    bound = "No bound is known for this mechanism"
    if rehearsal.bound is not None and rehearsal.gap is not None:
        bound = (
            f"No reader of single words names more than {percent_up(rehearsal.bound.high)} of the words: "
            f"{100 * rehearsal.gap:.1f} points above the attack word by word"
        )
    columns = ["reader", "right", "95 % interval, in %", "guessing", "tries"]
    rows = [
        [
            each.reader,
            _in_words(each.share),
            each.share.interval,
            percent(each.blind),
            f"{each.share.tries:,}",
        ]
        for each in rehearsal.attacks
    ]
    found = [Table(f"How often each reader names the word, or its kind. {bound}", columns, rows)]
    if (link := rehearsal.linked) is not None:
        caption = (
            f"Finding the right text or person: a reader who holds the originals of all {link.candidates:,} "
            f"looks for the one behind each released text. {NO_BOUND}"
        )
        columns = ["reader", "right first", "95 % interval, in %", "among the first ten", "guessing"]
        few, blind = percent(link.among_first_few), percent(link.blind)
        row = [link.reader, _in_words(link.share), link.share.interval, few, blind]
        found.append(Table(caption, columns, [row]))
    rows = []
    for each in rehearsal.lists:
        ends = [_in_words(each.unchanged), _in_words(each.named)]
        rows.append([each.name, f"{each.places:,}", *(["held back", "never"] if each.held_back else ends)])
    caption = "Words of lists. Only listed names are held back: others can come out."
    found.append(Table(caption, ["list", "places", "unchanged", "named by a reader"], rows))
    if exposed := rehearsal.exposed:
        caption = f"{words(len(exposed))} of this file come out unchanged in most places."
        rows = [[each.word, f"{each.places:,}", percent(each.unchanged)] for each in exposed[:_MOST_EXPOSED]]
        found.append(Table(caption, ["exposed word", "places", "unchanged"], rows))
    return found


def _add_use(page: Page, decision: Decision) -> None:
    page.add_section("What the release is good for")
    rows = []
    for label, found in decision.use.items():
        clean, released, guessing = accuracy(found)
        rows.append([label, percent(guessing), percent(released), percent(clean)])
    if rows:
        caption = "A classifier learns from released texts, and judges other released texts."
        page.add_table(["label", "guessing", "from the release", "from the original"], rows, caption=caption)
    for label, why in decision.not_measured.items():
        page.add_text(f"{label}: not measured ({why}).")
    if decision.rehearsal.frequencies is not None:
        as_released, decoded, total = decision.rehearsal.frequencies
        page.add_text(
            f"Word counts: of {words(total)} used 20 times or more, the count is known within a factor of "
            f"two for {as_released:,} as released, and for {decoded:,} after decoding with the card."
        )
    page.add_text("A word by itself is not to be relied on: use sums over many texts.")


def _add_columns(page: Page, decision: Decision) -> None:
    roles, kept = decision.roles, "released as it is, by your decision"
    becomes = {
        "words replaced": roles.text,
        "left out": (*roles.drop, *(f"sheet {name}" for name in roles.drop_sheets)),
        kept: (*roles.keep, *(f"sheet {name}" for name in roles.keep_sheets)),
        "released as it is: looked harmless": decision.public,
    }
    page.add_section("What becomes of each column")
    rows = [(name, what) for what, names in becomes.items() for name in names]
    page.add_table(["column", "what becomes of it"], rows or [("the text", "words replaced")], text_columns=2)
    for warning in decision.warnings:
        page.add_note(f"{warning[0].upper()}{warning[1:]}.", kind="warning")
    public = decision.deployment["deployment"]["dp_variant"]["unprotected_quantities"]
    page.add_text(f"Public, whatever the risk: {public}")


def _add_people(page: Page, decision: Decision) -> None:
    rehearsal = decision.rehearsal
    page.add_section("Who may have what")
    if decision.released:
        page.add_list(
            [
                phrase(strong("Recipients"), ": everything in ", code("hand-over"), ", the card included."),
                phrase(strong("Nobody else"), ": ", code("keep"), " (this page and the receipt) is private."),
                "Do not run this again to get a draw that looks better: choosing among draws voids the "
                "bound, and each release of the same text adds to what a reader can learn.",
            ]
        )
    else:
        settle = " Settle the points above, or accept them by name: --accept-changes."
        page.add_text(
            "Nothing was released: the folder hand-over was not made."
            + (settle if decision.verdict.may_release else "")
        )
    page.add_section("How this was found out")
    page.add_list(
        [
            f"{rehearsal.texts:,} texts of {words(rehearsal.words)} were read; "
            f"{words(rehearsal.attacked_words)} from all over the file were attacked. The embedding does not "
            f"know {percent(rehearsal.unknown_share)} of the words: these all go in as one unknown word.",
            "Attacks, examples and use are those of rehearsal draws in memory, of which this page keeps the "
            "examples. The file that is handed over was drawn once, afterwards, and nothing was measured on "
            "it.",
            "The attackers know the mechanism, ε, the embedding and how frequent each word is in this very "
            "file. Most readers know less. A better attack may be found tomorrow; the bounds hold against "
            "all of them.",
            "This page measures. It makes no legal claim.",
        ]
    )


def _add_annexes(page: Page, decision: Decision) -> None:
    rehearsal, link = decision.rehearsal, decision.rehearsal.linked
    linking = "too few texts to measure"
    if link is not None:
        first = _measured(link.share, link.blind)
        linking = f"the right one of {link.candidates:,} is found first in {first}, by {link.reader}"
    attacks = [f"{each.reader}: {_measured(each.share, each.blind)}" for each in rehearsal.attacks]
    inference = "; ".join(attacks) if rehearsal.best_attack is not None else "not measured"
    about = decision.deployment["deployment"]
    page.add_section("Annex: WP216 and EDPB")
    page.add_table(
        ["risk", "what was measured"],
        [
            ("singling out", f"a reader with the original texts: {linking}"),
            ("linkability", f"the same attack links a released text to its original: {linking}"),
            ("inference", inference),
        ],
        text_columns=2,
    )
    page.add_section("Annex: terms of NIST SP 800-226")
    page.add_table(
        ["term", "here"],
        [
            ("unit of privacy", about["privacy_loss"]["privacy_unit"]),
            ("model", about["deployment_model"]["model_name_details"]),
            ("bound", about["privacy_loss"]["privacy_parameters_details"]),
            ("composition", about["accounting"]["composition"]),
            ("implementation, randomness, side channels", about["implementation"]["mechanisms"]),
            ("preparation", about["implementation"]["preprocessing_and_hyperparameter_tuning"]),
            ("not protected", about["dp_variant"]["unprotected_quantities"]),
        ],
        text_columns=2,
    )
    page.add_text(
        "The same facts are in keep/deployment.yaml, a draft for the Differential Privacy Deployments "
        "Registry: fill in what is in brackets."
    )
    page.add_section("Annex: material for a HIPAA expert determination")
    page.add_list(
        [
            "Method: each word is replaced by a word drawn around it in a public embedding; proof in the "
            "package.",
            f"Result: {decision.verdict.answer}. {decision.verdict.headline.partition('. ')[2]}",
            "Assumptions: recipients may know the mechanism, ε and the frequency of each word; they do "
            "not hold the original texts, the receipt or this page.",
        ]
    )
    page.add_section("Signature")
    page.add_table(["decision", "name", "date"], [[_ROOM_TO_SIGN, "", ""]], text_columns=3)


def _measured(share: Share, blind: float) -> str:
    says = "" if share.says_little else f" of cases ({share.interval}, in %)"
    return f"{_in_words(share)}{says}; guessing: {percent(blind)}"


def _in_words(share: Share | None) -> str:
    if share is None:
        return "none in the text"
    return "too few words to say" if share.says_little else percent(share.value)
