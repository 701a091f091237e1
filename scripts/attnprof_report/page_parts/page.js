"use strict";
// The findings' filter, links into closed parts, and every run open on paper.

function filterFindings(words) {
  const cases = [...document.querySelectorAll("#findings-list > details")];
  for (const one of cases) one.hidden = !words.every((word) => one.textContent.toLowerCase().includes(word));
  document.getElementById("findings-count").textContent = `${cases.filter((one) => !one.hidden).length} of ${cases.length}`;
}

function openTarget() {
  const target = document.getElementById(location.hash.slice(1));
  if (!(target instanceof HTMLDetailsElement)) return;
  target.hidden = false;
  target.open = true;
  target.scrollIntoView();
}

const filter = document.getElementById("findings-filter");
if (filter) {
  filter.addEventListener("input", () => filterFindings(filter.value.toLowerCase().split(/\s+/).filter(Boolean)));
}
addEventListener("hashchange", openTarget);
addEventListener("beforeprint", () => {
  for (const part of document.querySelectorAll("#environment details:not([open])")) {
    part.dataset.closed = "yes";
    part.open = true;
  }
});
addEventListener("afterprint", () => {
  for (const part of document.querySelectorAll("details[data-closed]")) {
    delete part.dataset.closed;
    part.open = false;
  }
});
openTarget();
