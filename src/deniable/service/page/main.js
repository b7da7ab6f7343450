// The page: one slider, and everything that moves with it.

import { Refused, download, freshId, get, hasToken, latest, listen, post, settled, useToken } from "./api.js";
import { bar, curve, element, map, percent } from "./draw.js";
import { fileSection } from "./file.js";
import { measured } from "./measured.js";

const byId = (id) => document.getElementById(id);
const MOST_DECODED = 60;
const SHOWN_BARS = 8;
const PROTECTS_NOBODY = 1000;
const SAMPLES = {
  "a doctor's note": "The patient is a nurse and pregnant. She takes antidepressants for panic attacks since her divorce and fears losing her job.",
  "a support request": "Please reset my password. The laptop was stolen from my hotel in Toronto and the thief can read our invoices.",
  "a review": "The hotel was wonderful but the breakfast was cold and the waiter rude. My husband will not come back to Lisbon.",
};
const RISKS = ["low", "medium", "high"];

// `source` is the text that `words` are the words of; `made` is a release with the text it was made from, and `guesses` and `factor` are of
// that release. `place` is the word of the text that is looked at; null if `word` was chosen elsewhere.
const state = {
  allowed: null, epsilon: 6, source: null, words: [], epsilons: [], rows: null, refused: null, made: null, guesses: null, factor: null,
  word: null, place: null, mine: null, calibration: [],
};
// What every question is asked by.
const purpose = () => byId("purpose").value;
const space = () => (purpose() ? { purpose: purpose() } : {});
const choice = () => ({ epsilon: state.epsilon, ...space(), ...(byId("hold-back").checked && myWords().length ? { never_release: myWords() } : {}) });
const myWords = () => byId("mine").value.split(/[\s,;]+/).filter((word) => /[\p{L}\p{N}]/u.test(word));
const files = fileSection(() => state, choice);

// The share of draws in which a word stays itself at this ε, between two values of its row.
function unchangedOf(row, table = state, epsilon = state.epsilon) {
  if (row === null || !table.rows) return row === null ? 0 : null;
  const values = table.rows[row], at = table.epsilons;
  const above = at.findIndex((value) => value > epsilon);
  const place = above < 0 ? at.length - 2 : Math.max(0, above - 1);
  const part = Math.max(0, Math.min(1, (epsilon - at[place]) / (at[place + 1] - at[place])));
  return values[place] + part * (values[place + 1] - values[place]);
}

function averageAt(epsilon) {
  if (!state.words.length || !state.rows) return null;
  return state.words.reduce((sum, word) => sum + unchangedOf(word.row, state, epsilon), 0) / state.words.length;
}

function showDial() {
  byId("epsilon-value").textContent = byId("file-epsilon").textContent = purpose() ? String(state.epsilon) : state.epsilon.toFixed(1);
  byId("card-link").href = `/card?${new URLSearchParams(Object.entries(choice()))}`;
  showCommands();
  const share = averageAt(state.epsilon);
  byId("fact-unchanged").textContent = share === null ? "–" : percent(share);
  byId("summary").textContent = summary(share);
}

function summary(share) {
  if (state.refused !== null) return `No figures for this text: ${state.refused}.`;
  if (!state.words.length) return "Type something, or take a sample.";
  const unknown = state.words.filter((word) => !word.known).length;
  if (unknown > 0.5 * state.words.length) return "Most of these words are not known here. Each goes in as the one unknown word: little of the meaning comes out.";
  if (share === null) return "How many words stay is not known for this mechanism.";
  const of = `${percent(share)} of your words stay unchanged.`;
  if (share > 0.6) return `Little privacy: ${of}`;
  if (share > 0.3) return `Readable, and much can be guessed: ${of}`;
  if (share > 0.08) return `Much is changed: ${of}`;
  return `Hardly anything is left: ${of}`;
}

function showFigures() {
  showDial();
  const yours = state.words.length && state.rows ? state.epsilons.map(averageAt) : null;
  const dots = isMeasured() ? measured.tasks.flatMap((task) => task.rows.map((row) => ({ ...row, name: task.name }))) : [];
  curve(byId("curve"), {
    epsilons: state.epsilons, yours, all: state.calibration, dots, now: state.epsilon, share: averageAt(state.epsilon), most: state.allowed.max_epsilon,
  });
  showLeast();
  showMine();
  showTasks();
}

// Measured with all words: where some never come out, a little less is right and named.
function isMeasured() {
  return state.allowed.mechanisms[0] === measured.mechanism && state.fingerprint === measured.fingerprint;
}

function showLeast() {
  const seen = new Map();
  for (const word of state.words) if (word.known) seen.set(word.word, unchangedOf(word.row));
  const least = [...seen].filter(([, share]) => share !== null).sort((a, b) => b[1] - a[1]).slice(0, SHOWN_BARS);
  keepFocus(byId("least"), least.map(([word, share]) => bar(word, share, { onclick: () => choose(word), pressed: word === state.word, kind: share > 0.5 ? "high" : "" })));
  if (!least.length) byId("least").replaceChildren(element("li", {}, element("span", { class: "wide-value" }, "no known word yet")));
}

// Lists are drawn anew at every move; whoever stands on a word with the keyboard stays on it.
function keepFocus(list, children) {
  const at = [...list.querySelectorAll("button")].indexOf(document.activeElement);
  const focused = at < 0 ? null : document.activeElement.textContent;
  list.replaceChildren(...children);
  const buttons = [...list.querySelectorAll("button")];
  if (focused !== null) (buttons.find((button) => button.textContent === focused) ?? (list.id === "released" ? buttons[at] : null))?.focus();
}

function showMine() {
  if (state.mine === null) return;
  keepFocus(byId("mine-bars"), state.mine.words.map((word) => word.known
    ? bar(word.word, unchangedOf(word.row, state.mine) ?? 0, { onclick: () => choose(word.word), pressed: word.word === state.word })
    : element("li", {}, element("span", { class: "name" }, word.word), element("span", { class: "wide-value" }, "not in the vocabulary: never comes out"))));
}

// Only what was measured is shown: of each task the measured ε that is nearest to the one chosen.
function showTasks() {
  byId("tasks").hidden = !isMeasured();
  byId("tasks-says").textContent = isMeasured()
    ? `A classifier learns from released texts and judges others, at the measured ε nearest to yours${state.heldBack ? "; measured with names, which are held back here" : ""}.`
    : "Not measured with these vectors; `deniable utility` measures it on your labelled texts.";
  if (!isMeasured()) return;
  const away = (row) => Math.abs(row.epsilon - state.epsilon);
  byId("tasks").tBodies[0].replaceChildren(...measured.tasks.map((task) => {
    const row = task.rows.reduce((best, each) => (away(each) < away(best) ? each : best));
    const shares = [task.guessing, row.released, row.decoded, task.original].map((share) => element("td", {}, percent(share)));
    return element("tr", {}, element("th", { scope: "row" }, task.name), element("td", {}, row.epsilon.toFixed(1)), ...shares);
  }));
}

// Words are compared only with those of the text that the release was made from; both come by themselves.
const isOfSource = () => state.made !== null && state.made.source === state.source;

// Each released word with the word it stands for above it; both are looked at together.
function showReleased() {
  const { words } = state.made;
  const aligned = isOfSource() && words.length === state.words.length;
  const pairs = words.map((word, i) => {
    const source = aligned ? state.words[i] : null;
    const same = aligned && source.known && word.toLowerCase() === source.word.toLowerCase();
    const exposed = aligned && source.known && unchangedOf(source.row) > 0.5;
    const above = element("small", { class: exposed ? "exposed" : "" }, source?.word ?? "\u00a0");
    const label = source === null ? word : `${source.word}, ${same ? "unchanged" : `released as ${word}`}${exposed ? ", exposed" : ""}`;
    const button = element("button", { type: "button", class: "word", "aria-label": label, "aria-pressed": String(i === state.place), onclick: () => look(i) },
      above, same ? element("mark", {}, word) : element("b", {}, word));
    for (const kind of ["mouseenter", "focus"]) button.addEventListener(kind, () => look(i));
    return button;
  });
  keepFocus(byId("released"), pairs.flatMap((pair) => [pair, " "]));
  byId("marked").hidden = !aligned;
  byId("not-marked").hidden = aligned || !isOfSource();
  showPlace();
}

// Look at one word of the text, in both directions.
function look(place) {
  if (place === state.place && isOfSource() && state.words[place]?.word === state.word) return;
  state.place = place;
  if (isOfSource() && state.made.words.length === state.words.length && state.words[place].known) {
    state.word = state.words[place].word;
    settledExplain();
  }
  [...byId("released").querySelectorAll("button")].forEach((button, i) => button.setAttribute("aria-pressed", String(i === place)));
  showPlace();
  showLeast();
}

// What could have stood where the released word stands: the reverse view.
function showPlace() {
  const seen = state.made?.words[state.place] ?? null;
  const own = seen !== null && isOfSource() && state.made.words.length === state.words.length ? state.words[state.place] : null;
  byId("seen").textContent = seen ?? "…";
  const guess = state.guesses?.[state.place] ?? null;
  byId("backward").setAttribute("aria-busy", String(seen !== null && guess === null && state.decodes));
  if (guess === null || !guess.candidates.length) {
    byId("candidates").replaceChildren();
    byId("others").textContent = seen === null ? "Hover, focus or tap a released word." : guess === null ? (state.decodes ? "Every word is tried …" : "Not shown for this text.") : "It stands for any unknown word.";
    byId("chance").textContent = byId("factor").textContent = "";
    return;
  }
  const most = guess.candidates[0].probability;
  const is = (candidate) => own !== null && candidate.word.toLowerCase() === own.word.toLowerCase();
  byId("candidates").replaceChildren(...guess.candidates.map((candidate) => bar(candidate.word, candidate.probability, { most, kind: is(candidate) ? "own" : "" })));
  const rest = 1 - guess.candidates.reduce((sum, candidate) => sum + candidate.probability, 0);
  byId("others").textContent = `… and ${guess.others.toLocaleString()} other words share ${percent(Math.max(0, rest))}.`;
  const right = guess.candidates.find(is);
  byId("chance").textContent = own === null || !own.known ? ""
    : right ? `“${own.word}” was ${percent(right.before)} likely before, from the frequency of words alone; now it is ${percent(right.probability)}.`
      : `“${own.word}” is none of these: it can be denied.`;
  const times = state.factor === null ? "" : Math.ceil(state.factor).toLocaleString();
  byId("factor").textContent = state.factor === null ? ""
    : `Whatever a reader knew before: a released word raises the chance of any guess at most ${times}-fold, on average over words and draws.`
      + (state.factor >= PROTECTS_NOBODY ? " So large a factor protects nobody by itself: choose a smaller ε." : "")
      + " A single isolated word can be recognised far more often.";
}

const release = latest(async () => {
  const source = byId("text").value, asked = choice();
  const made = await post("/privatize", { text: source, ...asked, words: true, ...(state.allowed.keyed ? { id: freshId() } : {}) });
  Object.assign(state, { made: { source, asked, epsilon: asked.epsilon, text: made.text, words: made.words[0] }, guesses: null, decodes: true });
  showReleased();
  showAttacker("…");
  attack();
}, (refused) => {
  if (refused.status === undefined) return; // no answer: what stands there is marked as old
  Object.assign(state, { made: null, guesses: null, decodes: false });
  showPlace();
  byId("released").replaceChildren(element("span", { class: "quiet" }, `Not released: ${refused.message}.`));
  byId("marked").hidden = byId("not-marked").hidden = true;
  showAttacker("–");
});

const ATTACKER = "words named by a stranger who knows the method and has this release";
function showAttacker(shown, says = ATTACKER) {
  byId("fact-attacker").textContent = shown;
  byId("fact-attacker-says").textContent = says;
}

function showGuesses() {
  if (state.guesses === null) return;
  if (state.refused !== null) { showAttacker("–"); return; }
  if (!isOfSource() || state.made.epsilon !== state.epsilon) return; // its words, or the next release, are on their way
  if (state.guesses.length !== state.words.length) { showAttacker("–", `${ATTACKER}: not shown where words were left out`); return; }
  const named = state.guesses.filter((guess, i) => guess.guess.toLowerCase() === state.words[i].word.toLowerCase()).length;
  showAttacker(`${named} of ${state.guesses.length}`);
}

const attack = settled(latest(async () => {
  const made = state.made;
  state.decodes = made !== null && made.words.length > 0 && made.words.length <= MOST_DECODED && state.allowed.record_epsilon === null;
  if (!state.decodes) {
    showAttacker("–", made !== null && made.words.length > MOST_DECODED ? `${ATTACKER}: shown here for texts of up to ${MOST_DECODED} words` : ATTACKER);
    showPlace();
    return;
  }
  const { guesses, factor } = await post("/decode", { text: made.text, ...made.asked });
  if (made !== state.made) return; // the next one is on its way
  Object.assign(state, { guesses, factor });
  showGuesses();
  showPlace();
}, (refused) => {
  state.decodes = false;
  showAttacker("–", `${ATTACKER}: ${refused.message}`);
  showPlace();
}), 350);

const lookAtText = latest(async () => {
  const source = byId("text").value;
  const { epsilon, ...asked } = choice();
  const found = await post("/words", { text: source, ...asked });
  Object.assign(state, { source, words: found.words, epsilons: found.epsilons, rows: found.rows, refused: null });
  showGuesses();
  const stays = found.words.some((word) => word.word === state.word);
  if (!stays) {
    // The longest: short ones are mostly "the" and "of".
    const known = found.words.filter((word) => word.known);
    state.word = known.reduce((best, { word }) => (word.length > (best ?? "").length ? word : best), null);
    explain();
  }
  state.place = state.word === null ? null : found.words.findIndex(({ word }) => word === state.word);
  if (state.made !== null) showReleased();
  showFigures();
}, (refused) => {
  if (refused.status === undefined) return;
  Object.assign(state, { source: null, words: [], rows: null, refused: refused.message, word: null, place: null });
  if (state.made !== null) showReleased();
  showGuesses();
  explain();
  showFigures();
});

const lookAtMine = settled(latest(async () => {
  if (!state.begun) return;
  const text = byId("mine").value;
  state.mine = text.trim() ? await post("/words", { text, ...space() }) : { words: [], rows: [], epsilons: [] };
  showMine();
}, (refused) => {
  state.mine = null;
  byId("mine-bars").replaceChildren(element("li", {}, element("span", { class: "wide-value" }, refused.message)));
}), 200);

const explain = latest(async () => {
  if (!state.begun) return;
  if (state.word === null) { clearWord("…", ""); return; }
  const asked = { word: state.word, ...choice() };
  wordIsOld(true); // until its own figures are there, those of another word or ε are dimmed
  const told = await post("/explain", asked);
  wordIsOld(asked.word !== state.word || asked.epsilon !== state.epsilon);
  const { explanation } = told;
  byId("word-name").textContent = byId("goes-in").textContent = explanation.word;
  map(byId("map"), told.points, told.noise);
  byId("map-says").textContent = told.noise === null
    ? "Its neighbours, by the two axes along which they differ most."
    : "Its neighbours, by the two axes along which they differ most. Half of the noise stays inside the ring. Large dots are likely.";
  const most = Math.max(...explanation.outcomes.map((outcome) => outcome.probability), 0.02);
  byId("outcomes").replaceChildren(...explanation.outcomes.slice(0, 8).map((outcome) => bar(outcome.word, outcome.probability, { most, kind: outcome.word === explanation.word ? "own" : "" })));
  byId("word-says").textContent = `${explanation.distinct} different words came out in ${explanation.draws} draws.`;
}, (refused) => clearWord(state.word ?? "…", refused.message));

const wordIsOld = (old) => byId("forward").setAttribute("aria-busy", String(old));

function clearWord(name, says) {
  wordIsOld(false);
  byId("word-name").textContent = byId("goes-in").textContent = name;
  for (const id of ["map", "outcomes"]) byId(id).replaceChildren();
  byId("map-says").textContent = "";
  byId("word-says").textContent = says;
}

function choose(word) {
  state.word = word;
  const place = isOfSource() ? state.words.findIndex((each) => each.word === word) : -1;
  state.place = place < 0 ? null : place;
  if (state.made !== null) showReleased();
  explain();
  showFigures();
}

const settledExplain = settled(() => explain(), 120);
const settledHeld = settled(() => { if (state.begun) { lookAtText(); moved(); } }, 600);
function moved() {
  if (!state.begun) return;
  state.epsilon = Number(byId("epsilon").value);
  showAttacker("…");
  showFigures();
  release();
  settledExplain();
  files.moved();
}

const typed = settled(() => { if (state.begun) { lookAtText(); release(); } }, 150);

async function begin() {
  byId("token-form").hidden = true;
  try {
    state.allowed = await get("/allowed");
    const [first] = state.allowed.embeddings;
    byId("purpose-row").hidden = first !== "default" || !state.allowed.embeddings.includes("for-sentiment");
    await knowSpace();
    byId("names").textContent = state.allowed.never_release.length ? "Listed names are held back: most common given names and surnames never come out."
      : state.heldBack ? "Words of the operator's list never come out." : "Names are not held back: the operator of this server switched that off.";
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    if (error.status !== undefined && error.status !== 401) showProblem(`${error.message}. Load the page again in a moment.`);
    return;
  }
  const dial = byId("epsilon");
  dial.max = state.allowed.max_epsilon;
  if (!state.begun) dial.value = state.allowed.epsilon;
  state.begun = true;
  state.epsilon = Number(dial.value);
  lookAtText();
  release();
}

// What is known of the space that text is released in.
async function knowSpace() {
  const every = await get("/embeddings");
  const embedding = every.find(({ name }) => name === `for-${purpose()}`) ?? every[0];
  state.fingerprint = embedding.source ?? embedding.fingerprint;
  state.heldBack = (embedding.never_released_words ?? 0) > 0;
  const note = await get(`/calibration/${encodeURIComponent(embedding.name)}`).catch(() => null);
  state.calibration = (note?.table ?? []).map((row) => [row.epsilon, row.unchanged.mean ?? row.unchanged.median]);
}

// ε does not compare between spaces: in a new one it begins at a level of risk.
async function takePurpose() {
  const dial = byId("epsilon");
  [dial.min, dial.step] = purpose() ? [0.1, 0.001] : [1, 0.1];
  try {
    await knowSpace();
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    showProblem(`${error.message}. Choose again in a moment.`);
    return;
  }
  lookAtText();
  lookAtMine();
  if (purpose()) { takeRisk("medium"); return; }
  dial.value = state.allowed.epsilon;
  moved();
}

// The server knows or finds the ε of a level of risk. The slider moves in steps: rounded up, it would exceed the level.
async function takeRisk(level) {
  const button = byId(`risk-${level}`);
  button.setAttribute("aria-busy", "true");
  try {
    const { epsilon_per_word: epsilon } = await get(`/card?${new URLSearchParams({ risk: level, ...space() })}`);
    const steps = purpose() ? 1000 : 10;
    byId("epsilon").value = Math.floor(steps * epsilon + 1e-6) / steps;
    moved();
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    byId("summary").textContent = `This level is not known here: ${error.message}.`;
  } finally {
    button.removeAttribute("aria-busy");
  }
}

function showCommands() {
  const words = choice().never_release ?? [];
  const body = JSON.stringify({ text: "…", ...choice() });
  const held = state.allowed.never_release.length ? " --never-release names" : "";
  byId("as-command").textContent = `deniable privatize FILE.txt ${purpose() ? `--for ${purpose()} ` : ""}--epsilon ${state.epsilon}${held}${words.length ? " --never-release WORDS.txt" : ""} --output RELEASED.txt`;
  byId("as-curl").textContent = `curl ${location.origin}/privatize ${hasToken() ? '-H "Authorization: Bearer $TOKEN" ' : ""}-H "Content-Type: application/json" -d '${body}'`;
  byId("as-python").textContent = `deniable.privatize(texts, epsilon=${state.epsilon}${purpose() ? `, purpose="${purpose()}"` : ""}${held || words.length ? `, never_release=${JSON.stringify([...(held ? ["names"] : []), ...words])}` : ""})`;
}

function showProblem(message) {
  byId("problem").hidden = message === null;
  byId("problem").textContent = message ?? "";
  document.body.classList.toggle("stale", message !== null);
}

listen({
  problem: showProblem,
  token: (wrong) => {
    byId("token-form").hidden = false;
    byId("token-wrong").hidden = !wrong;
  },
  back: () => {
    if (!state.begun) { begin(); return; }
    lookAtText();
    moved();
  },
});
byId("token-form").addEventListener("submit", (event) => { event.preventDefault(); useToken(byId("token").value.trim()); begin(); });
byId("epsilon").addEventListener("input", moved);
byId("text").addEventListener("input", typed);
byId("mine").addEventListener("input", () => {
  lookAtMine();
  if (byId("hold-back").checked) settledHeld();
});
byId("purpose").addEventListener("change", () => { if (state.begun) takePurpose(); });
for (const level of RISKS) byId(`risk-${level}`).addEventListener("click", () => { if (state.begun) takeRisk(level); });
byId("hold-back").addEventListener("change", () => { lookAtText(); moved(); });
byId("hand-over").addEventListener("click", () => {
  files.take(new File([byId("text").value.replace(/\s*\n\s*/g, " ")], "text.txt"));
  byId("file-title").scrollIntoView();
});
for (const button of document.querySelectorAll("button[data-copy]")) {
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(byId(button.dataset.copy).textContent);
    button.textContent = "copied";
    setTimeout(() => { button.textContent = "copy"; }, 2000);
  });
}
byId("again").addEventListener("click", () => {
  if (!state.begun) return;
  if (state.refused !== null) lookAtText();
  release();
});
for (const link of [byId("api-link"), byId("card-link")]) {
  link.addEventListener("click", (event) => {
    if (!hasToken()) return;
    event.preventDefault();
    download(link.getAttribute("href"), link.dataset.name);
  });
}
byId("samples").append(...Object.entries(SAMPLES).flatMap(([name, text], i) => [
  i ? " · " : "", element("button", { type: "button", onclick: () => { byId("text").value = text; typed(); } }, name),
]));
byId("text").value = Object.values(SAMPLES)[0];
new ResizeObserver(settled(() => { if (state.begun) { showFigures(); explain(); } }, 100)).observe(document.body);
begin();
