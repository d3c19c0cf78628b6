"use strict";
const body = document.body;
const sets = [...document.querySelectorAll("fieldset")];
const rater = document.getElementById("rater");
const place = "affidavit labels " + body.dataset.keptAs;

// What an output was given: an empty text if somebody cannot tell, null if nothing was said.
const valueOf = (set) => {
  const chosen = set.querySelector("input[type=radio]:checked");
  const typed = set.querySelector("input[type=text]");
  return chosen ? chosen.value : typed ? typed.value.trim() || null : null;
};

const put = (set, value) => {
  for (const each of set.querySelectorAll("input[type=radio]")) each.checked = each.value === value;
  const typed = set.querySelector("input[type=text]");
  if (typed) typed.value = value ?? "";
};

const entries = () => Object.fromEntries(sets.map((set) => [set.dataset.output, valueOf(set)]).filter(([, value]) => value !== null));

const tell = () => {
  let done = 0, left = 0;
  for (const set of sets) {
    const value = valueOf(set);
    set.classList.toggle("done", value !== null);
    done += Boolean(value);
    left += value === "";
  }
  document.getElementById("done").textContent = done + " of " + sets.length + " labelled" + (left ? ", " + left + " left out" : "");
};

const keep = () => {
  tell();
  try {
    localStorage.setItem(place, JSON.stringify({ rater: rater.value, entries: entries() }));
  } catch {
    document.getElementById("kept").textContent = "This browser keeps nothing: save the file before you close the page.";
  }
};

const recall = () => {
  let kept = null;
  try {
    kept = JSON.parse(localStorage.getItem(place));
  } catch { /* a browser that keeps nothing */ }
  if (kept) {
    rater.value = kept.rater || "";
    for (const set of sets) put(set, kept.entries[set.dataset.output] ?? null);
  }
  tell();
};

const quoted = (text) => '"' + text.replaceAll('"', '""') + '"';

const save = () => {
  if (!rater.value.trim()) {
    rater.focus();
    rater.reportValidity();
    return;
  }
  const day = new Date();
  const date = [day.getFullYear(), day.getMonth() + 1, day.getDate()].map((each) => String(each).padStart(2, "0")).join("-");
  const rows = Object.entries(entries()).filter(([, value]) => value).map(([output, value]) => [output, body.dataset.about, value, rater.value.trim(), date]);
  const lines = [["output", "what", "value", "rater", "date"], ...rows].map((row) => row.map(quoted).join(",") + "\r\n");
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob(lines, { type: "text/csv" }));
  link.download = body.dataset.fileName;
  link.click();
};

document.addEventListener("input", keep);
document.getElementById("save").addEventListener("click", save);
recall();
