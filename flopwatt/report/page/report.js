// Draws the figures of this page.  Specifications and data lie in the page itself; nothing is fetched.
(() => {
  "use strict";
  const page = JSON.parse(document.getElementById("report-data").textContent);
  const loader = {
    load: async (uri) => {
      if (!Object.hasOwn(page.data, uri)) throw new Error("not in this page: " + uri);
      return page.data[uri];
    },
    sanitize: async (uri) => ({ href: uri }),
  };

  // Panels side by side where they fit; `spare` is what axes and gaps take, measured after the first drawing.
  const fit = (spec, width, spare) => {
    const copy = structuredClone(spec);
    const least = spec.usermeta.panel_min_width;
    const columns = Math.max(1, Math.min(spec.usermeta.max_columns, Math.floor(width / (least + 50))));
    copy.columns = columns;
    copy.spec.width = Math.max(120, Math.floor((width - spare) / columns));
    copy.config = page.config;
    delete copy.title;
    return copy;
  };

  const draw = async (figure, width) => {
    const chart = figure.querySelector(".chart");
    const spec = page.figures[figure.dataset.figure];
    // Vega-Lite warns of facets whose layers leave out missing values each for itself; what it warns of, wrong sizes, is
    // measured below.
    const options = { renderer: "svg", actions: false, loader, logLevel: vega.Error };
    let spare = 80;
    for (let attempt = 0; attempt < 3; ++attempt) {
      if (figure.view) figure.view.finalize();
      const fitted = fit(spec, width, spare);
      const result = await vegaEmbed(chart, fitted, options);
      figure.view = result.view;
      const drawn = Number(chart.querySelector("svg").getAttribute("width"));
      const over = drawn - width;
      if (over <= 0 && over > -24) break;
      spare += over + 2;
    }
    figure.dataset.drawn = "yes";
  };

  const drawAll = async () => {
    for (const figure of document.querySelectorAll("figure[data-figure]")) {
      const width = figure.querySelector(".chart").clientWidth;
      if (figure.dataset.width === String(width)) continue;
      figure.dataset.width = String(width);
      try {
        await draw(figure, width);
      } catch (error) {
        figure.querySelector(".chart").textContent = "This figure could not be drawn: " + error.message;
        console.error(error);
      }
    }
    document.documentElement.dataset.figures = "drawn";
  };

  // One drawing after the other; a resize in between draws again.
  let running = Promise.resolve();
  const schedule = () => { running = running.then(drawAll); };
  let waiting;
  window.addEventListener("resize", () => { clearTimeout(waiting); waiting = setTimeout(schedule, 200); });

  const save = (name, type, text) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };
  // Colours are custom properties of the page: a file that leaves it takes their values along.
  const standAlone = (svg) => {
    const style = getComputedStyle(document.documentElement);
    const resolve = (text) => text.replace(/var\((--[\w-]+)\)/g, (_, name) => resolve(style.getPropertyValue(name).trim()));
    const copy = svg.cloneNode(true);
    copy.style.background = style.getPropertyValue("--paper");
    return resolve(new XMLSerializer().serializeToString(copy)).replace(/font-family="[^"]*"/g, 'font-family="sans-serif"');
  };
  for (const link of document.querySelectorAll("[data-save]")) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      const name = link.dataset.save;
      if (link.dataset.kind === "data") save(name, "text/csv", page.data[name]);
      if (link.dataset.kind === "spec") save(name + ".vl.json", "application/json", JSON.stringify(page.figures[name], null, 2));
      if (link.dataset.kind === "svg") {
        const svg = document.querySelector(`figure[data-figure="${name}"] svg`);
        if (svg) save(name + ".svg", "image/svg+xml", standAlone(svg));
      }
    });
  }

  // What is folded away belongs on paper too.
  let opened = [];
  window.addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("main details:not([open])")];
    for (const details of opened) details.open = true;
  });
  window.addEventListener("afterprint", () => { for (const details of opened) details.open = false; });

  schedule();
})();
