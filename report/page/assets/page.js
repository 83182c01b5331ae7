"use strict";
// What every page does: tables that sort, tables and series as CSV files, details that open for printing.
// Nothing here asks a network for anything; without scripts the page reads the same.
var bs = {};
(function () {
  document.documentElement.classList.add("live");
  var block = document.getElementById("data");
  bs.data = block ? JSON.parse(block.textContent) : null;

  // The colours of charts, which canvases cannot take from a style sheet: Okabe and Ito's, which people
  // with any colour vision tell apart; lightened on a dark ground.
  var light = { fg: "#1b2330", dim: "#5a6675", grid: "#e3e8ed", bg: "#ffffff", total: "#3a4552", read: "#0072b2", write: "#d55e00", trim: "#008f68",
    ramp: "rgba(120,130,140,.16)", prep: "rgba(0,114,178,.08)", steady: "rgba(0,143,104,.18)", edge: "rgba(90,102,117,.35)", mark: "#b3261e",
    set: ["#0072b2", "#d55e00", "#008f68", "#b3568a", "#b07d00", "#2a93c9", "#3a4552", "#7a5195"] };
  var dark = { fg: "#e4e9ef", dim: "#9aa7b5", grid: "#28313b", bg: "#12161c", total: "#c6d0da", read: "#56b4e9", write: "#f08a3c", trim: "#2fc79b",
    ramp: "rgba(160,170,180,.16)", prep: "rgba(86,180,233,.10)", steady: "rgba(47,199,155,.20)", edge: "rgba(154,167,181,.35)", mark: "#ff8a80",
    set: ["#56b4e9", "#f08a3c", "#2fc79b", "#dd8fba", "#e8c547", "#8ecdf2", "#c6d0da", "#b79bd4"] };
  var scheme = window.matchMedia("(prefers-color-scheme: dark)");
  bs.printing = false;
  bs.colors = function () { return scheme.matches && !bs.printing ? dark : light; };
  bs.dark = function () { return scheme.matches && !bs.printing; };

  // Charts register a function that draws them anew, for another scheme, width or medium.
  var redraws = [];
  bs.onRedraw = function (f) { redraws.push(f); };
  function redraw() { redraws.forEach(function (f) { f(); }); }
  scheme.addEventListener("change", redraw);
  var opened = [];
  window.addEventListener("beforeprint", function () {
    bs.printing = true;
    opened = Array.prototype.slice.call(document.querySelectorAll("details:not([open]):not(.noprint)"));
    opened.forEach(function (d) { d.open = true; });
    redraw();
  });
  window.addEventListener("afterprint", function () {
    bs.printing = false;
    opened.forEach(function (d) { d.open = false; });
    redraw();
  });

  bs.make = function (tag, parent, text, cls) {
    var e = document.createElement(tag);
    if (text !== undefined) { e.textContent = text; }
    if (cls) { e.className = cls; }
    if (parent) { parent.appendChild(e); }
    return e;
  };

  // field quotes a CSV field as RFC 4180 has it. Text that a spreadsheet would carry out as a formula gets an
  // apostrophe before it, as in the files of blkstorm export; numbers never do.
  var number = /^[-+]?[0-9]+([.][0-9]+)?(e[-+]?[0-9]+)?$/i;
  function field(v) {
    v = v === null || v === undefined ? "" : String(v);
    if (/^ *[-=+@\uff1d\uff0b\uff0d\uff20]/.test(v) && !number.test(v)) { v = "'" + v; }
    return /[",\r\n]/.test(v) ? '"' + v.replace(/"/g, '""') + '"' : v;
  }
  bs.csv = function (rows) { return rows.map(function (r) { return r.map(field).join(","); }).join("\r\n") + "\r\n"; };
  bs.save = function (name, type, text) {
    var url = URL.createObjectURL(new Blob([text], { type: type + ";charset=utf-8" }));
    var a = document.createElement("a");
    a.href = url;
    a.download = name;
    document.body.appendChild(a);
    a.click();
    a.remove();
    setTimeout(function () { URL.revokeObjectURL(url); }, 10000);
  };

  // raw is what a cell stands for: its data-v, which has all digits, else its text.
  function raw(cell) { return cell.hasAttribute("data-v") ? cell.getAttribute("data-v") : cell.textContent.trim(); }
  bs.tableRows = function (table) {
    return Array.prototype.map.call(table.rows, function (r) {
      return Array.prototype.map.call(r.cells, function (c) { return c.hasAttribute("data-h") ? c.getAttribute("data-h") : raw(c); });
    });
  };
  document.querySelectorAll("button[data-csv]").forEach(function (b) {
    b.addEventListener("click", function () {
      bs.save(b.getAttribute("data-csv") + ".csv", "text/csv", bs.csv(bs.tableRows(document.getElementById(b.getAttribute("data-table")))));
    });
  });
  document.querySelectorAll("button[data-save]").forEach(function (b) {
    b.addEventListener("click", function () {
      bs.save(b.getAttribute("data-save"), "application/json", document.getElementById(b.getAttribute("data-from")).textContent);
    });
  });

  function sort(table, col, th) {
    var body = table.tBodies[0], down = th.getAttribute("aria-sort") !== "descending";
    var rows = Array.prototype.slice.call(body.rows).map(function (r, i) {
      var v = raw(r.cells[col]);
      return { row: r, n: v === "" ? NaN : Number(v), s: v, i: i };
    });
    rows.sort(function (a, b) {
      var an = !isNaN(a.n), bn = !isNaN(b.n);
      if (an !== bn) { return an ? -1 : 1; } // what has no figure comes last, either way
      var d = an ? a.n - b.n : a.s.localeCompare(b.s);
      return (down ? -d : d) || a.i - b.i;
    });
    rows.forEach(function (r) { body.appendChild(r.row); });
    Array.prototype.forEach.call(table.tHead.rows[0].cells, function (c) { c.removeAttribute("aria-sort"); });
    th.setAttribute("aria-sort", down ? "descending" : "ascending");
  }
  document.querySelectorAll("table.sort").forEach(function (table) {
    Array.prototype.forEach.call(table.tHead.rows[0].cells, function (th, col) {
      var b = document.createElement("button");
      b.type = "button";
      while (th.firstChild) { b.appendChild(th.firstChild); }
      th.appendChild(b);
      b.addEventListener("click", function () { sort(table, col, th); });
    });
  });
})();
