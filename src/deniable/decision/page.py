"""The page that a person signs: the verdict first, then what it rests on, then the annexes that are filed."""

from __future__ import annotations

from deniable.audit.results import NO_BOUND, Table
from deniable.audit.shares import Share
from deniable.decision.decision import Decision, accuracy
from deniable.decision.rehearsal import Rehearsal
from deniable.report.markup import code, phrase, strong
from deniable.report.page import Page
from deniable.report.wording import percent, percent_up, words

_TITLES = {
    "release": "Release",
    "release with changes": "Release with changes",
    "do not release": "Do not release",
}
_MOST_EXPOSED = 15


def decision_page(decision: Decision) -> Page:
    """Return the page about one decision. It quotes the private text, and stays with the data holder."""
    verdict, rehearsal = decision.verdict, decision.rehearsal
    page = Page(
        _TITLES[verdict.answer],
        lead=verdict.headline,
        kicker=f"{decision.source.name} · {decision.created[:10]}",
    )
    page.add_note(
        "This page is private: it quotes texts of your file. It stays in the folder keep, with the receipt.",
        kind="warning",
    )
    if verdict.reasons:
        page.add_section("Why")
        page.add_list(verdict.reasons)
    if verdict.changes:
        page.add_section("What would change the verdict")
        page.add_list(verdict.changes)
    _add_numbers(page, decision)
    _add_samples(page, decision)
    _add_attacks(page, decision)
    _add_use(page, decision)
    _add_columns(page, decision)
    _add_people(page, decision)
    _add_method(page, rehearsal)
    _add_annexes(page, decision)
    return page


def _add_method(page: Page, rehearsal: Rehearsal) -> None:
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


def _add_numbers(page: Page, decision: Decision) -> None:
    rehearsal, best = decision.rehearsal, decision.rehearsal.best_attack
    facts = []
    if rehearsal.bound is not None:
        facts.append(
            (percent_up(rehearsal.bound.high), "of the words at most, for any reader of single words")
        )
        facts.append((percent(rehearsal.bound.blind), "by guessing, without the release"))
    if best is not None:
        facts.append((_in_words(best.share), f"for the best attack measured ({best.reader})"))
    facts.append((percent(decision.limit), "is the limit"))
    page.add_section("The numbers")
    page.add_facts(facts)
    page.add_list(decision.numbers.in_words())


def _add_samples(page: Page, decision: Decision) -> None:
    page.add_section(
        "Before and after",
        "From a rehearsal draw, not from the file that is handed over. Look for what a reader who knows the "
        "people could recognise.",
    )
    page.add_table(["original", "released"], decision.rehearsal.samples, text_columns=2)


def attack_tables(rehearsal: Rehearsal) -> list[Table]:
    """Return what each reader reached, which words of lists came out, and which words are exposed."""
    found = [
        Table(
            "How often each reader names the word, or its kind",
            ["reader", "right", "95 % interval, in %", "guessing", "tries"],
            [
                [
                    each.reader,
                    _in_words(each.share),
                    each.share.interval,
                    percent(each.blind),
                    f"{each.share.tries:,}",
                ]
                for each in rehearsal.attacks
            ],
        )
    ]
    if (link := rehearsal.linked) is not None:
        ends = [_in_words(link.share), link.share.interval]
        found.append(
            Table(
                "Finding the right text or person: a reader who holds the originals of all "
                f"{link.candidates:,} looks for the one behind each released text. {NO_BOUND}",
                ["reader", "right first", "95 % interval, in %", "among the first ten", "guessing"],
                [[link.reader, *ends, percent(link.among_first_few), percent(link.blind)]],
            )
        )
    found.append(
        Table(
            "Words of lists. Only listed names are held back: others can come out",
            ["list", "places", "unchanged", "named by a reader"],
            [
                [
                    each.name,
                    f"{each.places:,}",
                    "held back" if each.held_back else _in_words(each.unchanged),
                    "never" if each.held_back else _in_words(each.named),
                ]
                for each in rehearsal.lists
            ],
        )
    )
    if rehearsal.exposed:
        shown = rehearsal.exposed[:_MOST_EXPOSED]
        found.append(
            Table(
                f"{words(len(rehearsal.exposed))} of this file come out unchanged in most places",
                ["exposed word", "places", "unchanged"],
                [[each.word, f"{each.places:,}", percent(each.unchanged)] for each in shown],
            )
        )
    return found


def _add_attacks(page: Page, decision: Decision) -> None:
    page.add_section("Attacks on this text")
    for table in attack_tables(decision.rehearsal):
        page.add_table(table.columns, table.rows, caption=f"{table.caption}.")


def _add_use(page: Page, decision: Decision) -> None:
    page.add_section("What the release is good for")
    rows = []
    for label, found in decision.use.items():
        clean, released, guessing = accuracy(found)
        rows.append([label, percent(guessing), percent(released), percent(clean)])
    if rows:
        page.add_table(
            ["label", "guessing", "from the release", "from the original"],
            rows,
            caption="A classifier learns from released texts, and judges other released texts.",
        )
    for label, why in decision.not_measured.items():
        page.add_text(f"{label}: not measured ({why}).")
    if decision.rehearsal.frequencies is not None:
        released, decoded, total = decision.rehearsal.frequencies
        page.add_text(
            f"Word counts: of {words(total)} used 20 times or more, the count is known within a factor of "
            f"two for {released:,} as released, and for {decoded:,} after decoding with the card."
        )
    page.add_text("A word by itself is not to be relied on: use sums over many texts.")


def _add_columns(page: Page, decision: Decision) -> None:
    roles = decision.roles
    page.add_section("What becomes of each column")
    rows = [
        *([name, "words replaced"] for name in roles.text),
        *([name, "left out"] for name in roles.drop),
        *([name, "released as it is, by your decision"] for name in roles.keep),
        *([name, "released as it is: looked harmless"] for name in decision.public),
        *([f"sheet {name}", "left out"] for name in roles.drop_sheets),
        *([f"sheet {name}", "released as it is, by your decision"] for name in roles.keep_sheets),
    ]
    page.add_table(["column", "what becomes of it"], rows or [["the text", "words replaced"]], text_columns=2)
    for warning in decision.warnings:
        page.add_note(f"{warning[0].upper()}{warning[1:]}.", kind="warning")
    public = decision.deployment["deployment"]["dp_variant"]["unprotected_quantities"]
    page.add_text(f"Public, whatever the risk: {public}")


def _add_people(page: Page, decision: Decision) -> None:
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
        page.add_text(
            "Nothing was released: the folder hand-over was not made."
            + (
                " Settle the points above, or accept them by name: --accept-changes."
                if decision.verdict.may_release
                else ""
            )
        )


def _add_annexes(page: Page, decision: Decision) -> None:
    rehearsal, link = decision.rehearsal, decision.rehearsal.linked
    best = rehearsal.best_attack
    linking = (
        "too few texts to measure"
        if link is None
        else f"the right one of {link.candidates:,} is found first in {_measured(link.share, link.blind)}, "
        f"by {link.reader}"
    )
    inference = ["not measured"] if best is None else []
    inference += [f"{each.reader}: {_measured(each.share, each.blind)}" for each in rehearsal.attacks]
    page.add_section("Annex: WP216 and EDPB")
    page.add_table(
        ["risk", "what was measured"],
        [
            ["singling out", f"a reader with the original texts: {linking}"],
            ["linkability", f"the same attack links a released text to its original: {linking}"],
            ["inference", "; ".join(inference)],
        ],
        text_columns=2,
    )
    about = decision.deployment["deployment"]
    page.add_section("Annex: terms of NIST SP 800-226")
    page.add_table(
        ["term", "here"],
        [
            ["unit of privacy", about["privacy_loss"]["privacy_unit"]],
            ["model", about["deployment_model"]["model_name_details"]],
            ["bound", about["privacy_loss"]["privacy_parameters_details"]],
            ["composition", about["accounting"]["composition"]],
            ["implementation, randomness, side channels", about["implementation"]["mechanisms"]],
            ["preparation", about["implementation"]["preprocessing_and_hyperparameter_tuning"]],
            ["not protected", about["dp_variant"]["unprotected_quantities"]],
        ],
        text_columns=2,
    )
    page.add_text(
        "The same facts stand in keep/deployment.yaml, a draft for the Differential Privacy Deployments "
        "Registry: fill in what is in brackets."
    )
    page.add_section("Annex: material for a HIPAA expert determination")
    page.add_list(
        [
            "Method: each word is replaced by a word drawn around it in a public embedding; proof in the "
            "package.",
            f"Result: {decision.verdict.headline}",
            "Assumptions: recipients may know the mechanism, ε and the frequency of each word; they do "
            "not hold the original texts, the receipt or this page.",
        ]
    )
    page.add_section("Signature")
    page.add_table(["decision", "name", "date"], [["\u00a0", "", ""]], text_columns=3)


def _measured(share: Share, blind: float) -> str:
    says = "" if share.says_little else f" of cases ({share.interval}, in %)"
    return f"{_in_words(share)}{says}; guessing: {percent(blind)}"


def _in_words(share: Share | None) -> str:
    if share is None:
        return "none in the text"
    return "too few words to say" if share.says_little else percent(share.value)
