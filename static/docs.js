// The routes of the page that app/web/machine/docs_page.py writes are a list until somebody wants to try them out:
// Swagger UI is a megabyte and a half. docs.css gives it our colors.

const place = document.getElementById("swagger-ui");
const button = document.getElementById("try");
const missing = document.getElementById("missing");

// What it leaves out for those who use keys or listen: code that scrolls is reached, and a choice says of what.
new MutationObserver(() => {
  for (const code of place.querySelectorAll("pre")) code.tabIndex = 0;
  for (const row of place.querySelectorAll("tr[data-param-name]")) {
    row.querySelector("select")?.setAttribute("aria-label", row.dataset.paramName);
  }
}).observe(place, { childList: true, subtree: true });

const arrived = (element) => new Promise((done, failed) => { element.onload = done; element.onerror = failed; });

/** Loads the style, which has to stand before ours, and the bundle. */
function load() {
  const style = Object.assign(document.createElement("link"), { rel: "stylesheet", href: place.dataset.sheet });
  const script = Object.assign(document.createElement("script"), { src: place.dataset.bundle });
  document.querySelector('link[href*="docs.css"]').before(style);
  document.head.append(script);
  return Promise.all([style, script].map(arrived));
}

button.hidden = false;
button.addEventListener("click", async () => {
  button.disabled = missing.hidden = true;
  try {
    await load();
  } catch {
    button.disabled = false;
    button.focus();
    missing.hidden = false;
    return;
  }
  button.remove();
  place.focus();
  document.getElementById("routes-list").remove();
  window.SwaggerUIBundle({
    url: place.dataset.openapi,
    domNode: place,
    deepLinking: false, // its links would stand inside of buttons, which no screen reader can tell apart
    displayRequestDuration: true,
    defaultModelsExpandDepth: -1,
    validatorUrl: null, // the default would send the description to a service on the internet
  });
});
