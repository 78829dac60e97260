"use strict";
(async () => {
  const root = document.documentElement;
  root.classList.add("js");
  const charts = new Map();
  const find = (selector, within = document) => within.querySelector(selector);
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];

  // Text of an element that holds characters of seven bits, deflated (see packing.py).
  async function unpack(id) {
    const text = document.getElementById(id).textContent;
    const bytes = new Uint8Array((text.length * 7) >> 3);
    let held = 0, bits = 0, place = 0;
    for (let i = 0; i < text.length; i++) {
      held = ((held << 7) | (text.charCodeAt(i) & 127)) & 0x3fff;
      bits += 7;
      if (bits >= 8) {
        bits -= 8;
        bytes[place++] = held >> bits;
      }
    }
    const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Response(plain).text();
  }

  // --- charts -------------------------------------------------------------------------------
  const color = (name) => getComputedStyle(root).getPropertyValue(name).trim();

  function themed(layout, printing = false) {
    const text = printing ? "#000" : color("--text");
    const line = printing ? "#ccc" : color("--line");
    const phone = window.innerWidth < 640 && !printing;
    const axis = { gridcolor: line, zerolinecolor: line, linecolor: line, automargin: true };
    const result = {
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      font: { color: text, family: "system-ui, sans-serif", size: phone ? 11 : 13 },
      margin: { l: 56, r: 16, t: 16, b: 48 },
      hovermode: "closest",
      legend: { orientation: "h", y: 1.02, yanchor: "bottom", x: 0 },
      ...layout,
    };
    result.xaxis = { ...axis, ...layout.xaxis };
    if (phone && result.xaxis.nticks) result.xaxis.nticks = Math.min(result.xaxis.nticks, 10);
    result.yaxis = { ...axis, ...layout.yaxis };
    if (result.xaxis.rangeslider) {
      result.xaxis.rangeslider = { ...result.xaxis.rangeslider, bordercolor: line, borderwidth: 1 };
    }
    return result;
  }

  function draw(id, printing = false) {
    const place = document.getElementById(id);
    const chart = charts.get(id);
    // What is not shown has no width to fill; it is drawn when its tab is opened.
    if (!place || !chart || !window.Plotly || place.offsetParent === null) return;
    Plotly.react(place, chart.data, themed(chart.layout, printing), {
      responsive: true, displaylogo: false, scrollZoom: false,
      showSendToCloud: false, plotlyServerURL: "",
      modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d", "sendChartToCloud"],
    });
    // The window may have changed while the tab was closed.
    if (place._fullLayout.width !== place.clientWidth) Plotly.Plots.resize(place);
  }

  function drawVisible() {
    for (const id of charts.keys()) draw(id);
  }

  // --- tabs ---------------------------------------------------------------------------------
  const tabs = all('[role="tab"]');
  function show(tab, focus = true) {
    for (const other of tabs) {
      const chosen = other === tab;
      other.setAttribute("aria-selected", String(chosen));
      other.tabIndex = chosen ? 0 : -1;
      document.getElementById(other.getAttribute("aria-controls")).hidden = !chosen;
    }
    if (focus) tab.focus();
    tab.scrollIntoView({ block: "nearest", inline: "nearest" });
    drawVisible();
  }
  tabs.forEach((tab, position) => {
    tab.addEventListener("click", () => show(tab));
    tab.addEventListener("keydown", (event) => {
      const steps = { ArrowRight: position + 1, ArrowLeft: position - 1, Home: 0, End: tabs.length - 1 };
      if (!(event.key in steps)) return;
      event.preventDefault();
      show(tabs[(steps[event.key] + tabs.length) % tabs.length]);
    });
  });

  if (tabs.length) show(tabs[0], false);

  // --- images -------------------------------------------------------------------------------
  const tiles = all("#samples button");
  if (tiles.length) {
    const pick = find("#pick"), wipe = find("#wipe"), name = find("#pick-name");
    const choose = (position) => {
      const tile = tiles[position];
      tiles.forEach((other) => other.setAttribute("aria-pressed", String(other === tile)));
      for (const kind of ["before", "after", "removed"]) {
        const source = find(`img.${kind}`, tile);
        for (const target of all(`.viewer img.${kind}`)) {
          target.src = source.src;
          target.alt = source.alt;
        }
      }
      name.textContent = tile.dataset.name;
      pick.value = position;
      pick.setAttribute("aria-valuetext", tile.dataset.name);
    };
    const wiped = () => {
      find(".compare .over").style.clipPath = `inset(0 ${100 - wipe.value}% 0 0)`;
      wipe.setAttribute("aria-valuetext", `${wipe.value}% cleaned`);
    };
    tiles.forEach((tile, position) => tile.addEventListener("click", () => choose(position)));
    pick.addEventListener("input", () => choose(Number(pick.value)));
    wipe.addEventListener("input", wiped);
    for (const choice of all('input[name="grid"]')) {
      choice.addEventListener("change", () => { find("#samples").dataset.show = choice.value; });
    }
    choose(0);
    wiped();
  }

  // --- theme --------------------------------------------------------------------------------
  const theme = find(".theme");
  theme.hidden = false;
  const dark = () => color("--page") === "#12161c";
  const label = () => { theme.textContent = dark() ? "Light" : "Dark"; };
  theme.addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    label();
    drawVisible();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { label(); drawVisible(); });
  label();

  // --- what the rest shows ------------------------------------------------------------------
  if (!window.DecompressionStream) {
    find("#old-browser").hidden = false;
    return;
  }
  const content = JSON.parse(await unpack("content"));
  for (const [id, chart] of Object.entries(content.charts)) charts.set(id, chart);
  const library = document.createElement("script");
  library.textContent = await unpack("plotly");
  document.head.append(library);

  // --- one feature over the samples, one sample over the features ------------------------------
  function lines(id, where, values) {
    const [before, after, repaired] = charts.get(id).data;
    Object.assign(before, { x: where, y: values.before });
    Object.assign(after, { x: where, y: values.after });
    repaired.x = values.repaired.map((i) => where[i]);
    // A cross stands where the wrong value was; for a gap, where it was filled.
    repaired.y = values.repaired.map((i) => values.before[i] ?? values.after[i]);
    document.getElementById(id).setAttribute("aria-label", values.alt);
    draw(id);
  }
  const feature = find("#feature"), sample = find("#sample");
  if (feature) {
    const choose = () => {
      const layout = charts.get("series").layout, series = content.series[Number(feature.value)];
      layout.yaxis = { ...layout.yaxis, title: { text: series.name } };
      lines("series", content.series_labels || content.series_positions, series);
    };
    feature.addEventListener("change", choose);
    choose();
  }
  if (sample) {
    const choose = () => lines("row", content.rows.x, content.rows.rows[Number(sample.value)]);
    sample.addEventListener("change", choose);
    choose();
  }

  // --- heat map of a table ----------------------------------------------------------------------
  for (const choice of all('input[name="heat"]')) {
    choice.addEventListener("change", () => {
      const heat = content.heat[choice.value];
      const trace = charts.get("heat").data[0];
      Object.assign(trace, heat);
      draw("heat");
    });
  }

  // --- list of changes --------------------------------------------------------------------------
  // Where a value was and is, between the ends of its column; what is beyond them stands outside.
  function glance([before, after]) {
    const at = (share) => 8 + 80 * Math.min(1.08, Math.max(-0.08, share));
    const x = before === null ? "" : `M${at(before) - 3} 4l6 6m0 -6l-6 6`;
    const holder = document.createElement("span");
    holder.innerHTML = `<svg class="glance" viewBox="0 0 96 14" aria-hidden="true"><line x1="8" y1="7" x2="88" y2="7"/>` +
      `<circle cx="${at(after)}" cy="7" r="3.5"/><path d="${x}"/></svg>`;
    return holder.firstChild;
  }
  const list = find("#changes"), places = new Map();
  if (list) {
    const { heads, rows, glances, small } = content.changes;
    rows.forEach((row, position) => places.set(row, position));
    const most = 200, filter = find("#filter"), sorters = all(".sort", list);
    const numbers = new Set(content.changes.numbers);
    let by = heads.indexOf("probability"), up = false;
    const compare = (a, b) => {
      const [x, y] = [a[by], b[by]], [p, q] = [parseFloat(x), parseFloat(y)];
      return Number.isNaN(p) || Number.isNaN(q) ? String(x).localeCompare(String(y)) : p - q;
    };
    const fill = () => {
      const text = filter.value.toLowerCase();
      const found = rows.filter((row) => row.some((cell) => String(cell).toLowerCase().includes(text)));
      found.sort((a, b) => (up ? compare(a, b) : compare(b, a)));
      find("tbody", list).replaceChildren(...found.slice(0, most).map((row) => {
        const line = document.createElement("tr");
        line.dataset.kind = row[heads.indexOf("kind")];
        line.append(...row.map((cell, column) => {
          const place = document.createElement("td");
          place.textContent = cell;
          if (numbers.has(heads[column])) place.className = "number";
          return place;
        }));
        const at = places.get(row);
        if (small[at]) line.dataset.small = "";
        if (glances) {
          const place = document.createElement("td");
          if (glances[at]) place.append(glance(glances[at]));
          line.append(place);
        }
        return line;
      }));
      find("#changes-shown").textContent = found.length > most ? `The first ${most} of ${found.length} are shown.` : "";
      sorters.forEach((button, position) => button.closest("th").setAttribute(
        "aria-sort", position !== by ? "none" : up ? "ascending" : "descending"));
    };
    sorters.forEach((button, position) => button.addEventListener("click", () => {
      up = position === by ? !up : true;
      by = position;
      fill();
    }));
    filter.addEventListener("input", fill);
    find("#download").addEventListener("click", () => {
      const cell = (value) => (/[",\r\n]/.test(value) ? `"${String(value).replaceAll('"', '""')}"` : value);
      const text = [heads, ...rows].map((row) => row.map(cell).join(",") + "\n").join("");
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
      link.download = "changes.csv";
      link.click();
      URL.revokeObjectURL(link.href);
    });
    fill();
  }

  // --- print --------------------------------------------------------------------------------
  addEventListener("beforeprint", () => {
    for (const panel of all('[role="tabpanel"]')) {
      panel.dataset.hidden ??= panel.hidden;
      panel.hidden = false;
    }
    for (const id of charts.keys()) draw(id, true);
  });
  addEventListener("afterprint", () => {
    for (const panel of all('[role="tabpanel"][data-hidden]')) {
      panel.hidden = panel.dataset.hidden === "true";
      delete panel.dataset.hidden;
    }
    drawVisible();
  });
  drawVisible();
  root.dataset.ready = "true";
})();
