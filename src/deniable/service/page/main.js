// The page: one slider, and everything that moves with it.

import { Refused, download, freshId, get, hasToken, latest, listen, post, settled, useToken } from "./api.js";
import { bar, curve, element, map, percent } from "./draw.js";
import { fileSection } from "./file.js";
import { measured } from "./measured.js";

const byId = (id) => document.getElementById(id);
const MOST_DECODED = 60;
const SHOWN_BARS = 8;
const SAMPLES = {
  "a doctor's note": "My doctor said the results will arrive on Tuesday and that the headaches come from stress at work.",
  "a support request": "Please reset the password of my account. The encryption keys were stolen from my laptop in Toronto.",
  "a review": "The hotel was wonderful but the breakfast was cold and the waiter rude. We will not come back to Lisbon.",
};

// `source` is the text that `words` are the words of; `made` is a release with the text it was made from, and `guesses` are of that release.
const state = {
  allowed: null, epsilon: 6, source: null, words: [], epsilons: [], rows: null, refused: null, made: null, guesses: null, word: null, mine: null, calibration: [],
};
const files = fileSection(() => state);

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
  byId("epsilon-value").textContent = byId("file-epsilon").textContent = state.epsilon.toFixed(1);
  byId("card-link").href = `/card?epsilon=${state.epsilon}`;
  const share = averageAt(state.epsilon);
  byId("fact-unchanged").textContent = share === null ? "–" : percent(share);
  byId("summary").textContent = summary(share);
}

function summary(share) {
  if (state.refused !== null) return `No figures for this text: ${state.refused}.`;
  if (!state.words.length) return "Type something, or take a sample.";
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
  const focused = list.contains(document.activeElement) ? document.activeElement.textContent : null;
  list.replaceChildren(...children);
  if (focused !== null) [...list.querySelectorAll("button")].find((button) => button.textContent === focused)?.focus();
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
    ? "A classifier learns from released texts and judges others, at the measured ε nearest to yours."
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

function showReleased() {
  const { words } = state.made;
  const aligned = isOfSource() && words.length === state.words.length;
  const pieces = words.flatMap((word, i) => {
    const same = aligned && state.words[i].known && word.toLowerCase() === state.words[i].word.toLowerCase();
    return [i && !/^['’]/.test(word) ? " " : "", same ? element("mark", {}, word) : word];
  });
  byId("released").replaceChildren(...pieces);
  byId("marked").hidden = !aligned;
  byId("not-marked").hidden = aligned || !isOfSource();
}

const release = latest(async () => {
  const source = byId("text").value, { epsilon } = state;
  const asked = { text: source, epsilon, words: true };
  if (state.allowed.keyed) asked.id = freshId();
  const made = await post("/privatize", asked);
  Object.assign(state, { made: { source, epsilon, text: made.text, words: made.words[0] }, guesses: null });
  showReleased();
  showAttacker("…");
  attack();
}, (refused) => {
  if (refused.status === undefined) return; // no answer: what stands there is marked as old
  Object.assign(state, { made: null, guesses: null });
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
  if (made === null || !made.words.length || state.allowed.record_epsilon !== null) { showAttacker("–"); return; }
  if (made.words.length > MOST_DECODED) { showAttacker("–", `named by a stranger: shown here for texts of up to ${MOST_DECODED} words`); return; }
  const { guesses } = await post("/decode", { text: made.text, epsilon: made.epsilon });
  if (made !== state.made) return; // the next one is on its way
  state.guesses = guesses;
  showGuesses();
}, (refused) => showAttacker("–", `${ATTACKER}: ${refused.message}`)), 350);

const lookAtText = latest(async () => {
  const source = byId("text").value;
  const found = await post("/words", { text: source });
  Object.assign(state, { source, words: found.words, epsilons: found.epsilons, rows: found.rows, refused: null });
  if (state.made !== null) showReleased();
  showGuesses();
  if (!found.words.some((word) => word.word === state.word)) {
    const known = found.words.filter((word) => word.known).sort((a, b) => (unchangedOf(b.row) ?? 0) - (unchangedOf(a.row) ?? 0));
    // Of the least protected, the longest: short ones are mostly "the" and "of".
    state.word = known.slice(0, SHOWN_BARS).reduce((best, { word }) => (word.length > (best ?? "").length ? word : best), null);
    explain();
  }
  showFigures();
}, (refused) => {
  if (refused.status === undefined) return;
  Object.assign(state, { source: null, words: [], rows: null, refused: refused.message, word: null });
  if (state.made !== null) showReleased();
  showGuesses();
  explain();
  showFigures();
});

const lookAtMine = settled(latest(async () => {
  if (!state.begun) return;
  const text = byId("mine").value;
  state.mine = text.trim() ? await post("/words", { text }) : { words: [], rows: [], epsilons: [] };
  showMine();
}, (refused) => {
  state.mine = null;
  byId("mine-bars").replaceChildren(element("li", {}, element("span", { class: "wide-value" }, refused.message)));
}), 200);

const explain = latest(async () => {
  if (!state.begun) return;
  if (state.word === null) { clearWord("…", ""); return; }
  const asked = { word: state.word, epsilon: state.epsilon };
  wordIsOld(true); // until its own figures are there, those of another word or ε are dimmed
  const told = await post("/explain", asked);
  wordIsOld(asked.word !== state.word || asked.epsilon !== state.epsilon);
  const { explanation } = told;
  byId("word-name").textContent = explanation.word;
  map(byId("map"), told.points, told.noise);
  byId("map-says").textContent = told.noise === null
    ? "Its neighbours, by the two axes along which they differ most."
    : "Its neighbours, by the two axes along which they differ most. Half of the noise stays inside the ring. Large dots are likely.";
  const most = Math.max(...explanation.outcomes.map((outcome) => outcome.probability), 0.02);
  byId("outcomes").replaceChildren(...explanation.outcomes.slice(0, 10).map((outcome) => bar(outcome.word, outcome.probability, { most, kind: outcome.word === explanation.word ? "own" : "" })));
  byId("word-says").textContent = `${explanation.distinct} different words came out in ${explanation.draws} draws.`;
}, (refused) => clearWord(state.word ?? "…", refused.message));

const wordIsOld = (old) => byId("word-panel").setAttribute("aria-busy", String(old));

function clearWord(name, says) {
  wordIsOld(false);
  byId("word-name").textContent = name;
  for (const id of ["map", "outcomes"]) byId(id).replaceChildren();
  byId("map-says").textContent = "";
  byId("word-says").textContent = says;
}

function choose(word) {
  state.word = word;
  explain();
  showFigures();
}

const settledExplain = settled(explain, 120);
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
    const [embedding] = await get("/embeddings");
    state.fingerprint = embedding.fingerprint;
    const note = await get(`/calibration/${encodeURIComponent(embedding.name)}`).catch(() => null);
    state.calibration = (note?.table ?? []).map((row) => [row.epsilon, row.unchanged.mean ?? row.unchanged.median]);
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

function showProblem(message) {
  byId("problem").hidden = message === null;
  byId("problem").textContent = message ?? "";
  document.body.classList.toggle("stale", message !== null);
}

listen({
  problem: showProblem,
  token: () => { byId("token-form").hidden = false; },
  back: () => {
    if (!state.begun) { begin(); return; }
    lookAtText();
    moved();
  },
});
byId("token-form").addEventListener("submit", (event) => { event.preventDefault(); useToken(byId("token").value.trim()); begin(); });
byId("epsilon").addEventListener("input", moved);
byId("text").addEventListener("input", typed);
byId("mine").addEventListener("input", lookAtMine);
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
