"use strict";
// Axes, units and colours of all charts.
(function () {
  bs.num = function (v, digits) { return v === null || v === undefined ? "–" : Number(v.toPrecision(digits || 4)).toLocaleString("en-US", { maximumFractionDigits: 6 }); };
  bs.short = function (v) {
    var a = Math.abs(v);
    if (a >= 1e9) { return +(v / 1e9).toPrecision(4) + "G"; }
    if (a >= 1e6) { return +(v / 1e6).toPrecision(4) + "M"; }
    if (a >= 1e3) { return +(v / 1e3).toPrecision(4) + "k"; }
    return String(+v.toPrecision(4));
  };
  bs.nanos = function (v) {
    if (v === null || v === undefined) { return "–"; }
    var r = v * (1 + 1e-9);
    if (r >= 1e9) { return +(v / 1e9).toPrecision(4) + " s"; }
    if (r >= 1e6) { return +(v / 1e6).toPrecision(4) + " ms"; }
    if (r >= 1e3) { return +(v / 1e3).toPrecision(4) + " µs"; }
    return +v.toPrecision(4) + " ns";
  };
  bs.time = function (s) {
    if (s === null || s === undefined) { return "–"; }
    var neg = s < 0 ? "-" : "";
    s = Math.round(Math.abs(s) * 1000) / 1000;
    var h = Math.floor(s / 3600), m = Math.floor(s % 3600 / 60), r = +(s % 60).toFixed(3);
    var two = function (n) { return (n < 10 ? "0" : "") + n; };
    if (h > 0) { return neg + h + ":" + two(m) + ":" + two(Math.round(r)); }
    return neg + m + ":" + two(r);
  };

  // rangeLog ends the axis at 1, 2 or 5 times a power of ten.
  bs.rangeLog = function (u, min, max) {
    if (min === null || min === undefined || !(min > 0)) { return [1e3, 1e6]; }
    var lo = Math.pow(10, Math.floor(Math.log10(min) + 1e-9)), hi = Math.pow(10, Math.floor(Math.log10(max) + 1e-9));
    var a = [5, 2, 1].find(function (k) { return k * lo <= min * (1 + 1e-9); }) * lo;
    var b = ([1, 2, 5, 10].find(function (k) { return k * hi >= max * (1 - 1e-9); }) || 10) * hi;
    return b > a ? [a, b] : [a, a * 10];
  };
  bs.rangeZero = function (u, min, max) {
    if (max === null || max === undefined || !(max > 0)) { return [0, 1]; }
    var unit = Math.pow(10, Math.floor(Math.log10(max)));
    var k = [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10].find(function (k) { return k * unit >= max * 1.02; }) || 12;
    return [0, k * unit];
  };
  // logSplits are the ticks of a logarithmic axis: 1, 2, 5 where there is room, else powers of ten.
  bs.logSplits = function (u, axis, min, max) {
    var upright = u.axes[axis].side % 2, label = upright ? 20 : 50; // pixels that a label takes
    var out = [], room = (upright ? u.bbox.height : u.bbox.width) / (window.devicePixelRatio || 1);
    var decades = Math.log10(max / min), steps = room / decades > 3 * label ? [1, 2, 5] : [1];
    var every = Math.max(1, Math.ceil(decades * 1.3 * label / room));
    for (var e = Math.floor(Math.log10(min) + 1e-9); e <= Math.log10(max) + 1e-9; e += 1) {
      if (steps.length === 1 && e % every) { continue; }
      steps.forEach(function (k) {
        var v = k * Math.pow(10, e);
        if (v >= min * (1 - 1e-9) && v <= max * (1 + 1e-9)) { out.push(v); }
      });
    }
    return out;
  };
  var timeSteps = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400, 172800, 604800];

  var font = '12px system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';
  function axis(more) {
    var c = bs.colors();
    var a = { stroke: c.dim, font: font, grid: { stroke: c.grid, width: 1 }, ticks: { stroke: c.grid, width: 1, size: 5 } };
    for (var k in more) { a[k] = more[k]; }
    return a;
  }
  bs.axis = axis;
  bs.timeAxis = function () {
    return axis({ incrs: timeSteps, space: 70, size: 34, values: function (u, vs) { return vs.map(bs.time); } });
  };
  bs.latencyAxis = function () {
    return axis({ size: 62, splits: bs.logSplits, filter: function (u, s) { return s; }, values: function (u, vs) { return vs.map(bs.nanos); } });
  };
  bs.countAxis = function (unit) {
    return axis({ size: 62, space: 34, values: function (u, vs) { return vs.map(function (v) { return bs.short(v) + (unit || ""); }); } });
  };

  // chart puts a uPlot into the element and keeps it as wide as its place: make(width, height) gives options and data.
  bs.chart = function (id, height, make) {
    var el = document.getElementById(id);
    if (!el) { return null; }
    var holder = { el: el, u: null };
    holder.draw = function () {
      // Paper has a width that nobody knows before: the style sheet stretches what is drawn here.
      var width = !bs.printing ? el.clientWidth : holder.wide ? 900 : 480;
      if (width < 50) { return; }
      var x = holder.u && holder.keep !== false ? { min: holder.u.scales.x.min, max: holder.u.scales.x.max } : null;
      if (holder.u) { holder.u.destroy(); }
      var h = typeof height === "function" ? height() : height;
      var made = make(width, h);
      made.opts.width = width;
      made.opts.height = h;
      holder.u = new uPlot(made.opts, made.data, el);
      if (x && x.min !== null && made.keepZoom) { holder.u.setScale("x", x); }
      holder.width = width;
    };
    holder.draw();
    bs.onRedraw(function () { holder.draw(); });
    if (window.ResizeObserver) {
      new ResizeObserver(function () {
        if (!bs.printing && el.clientWidth > 50 && Math.abs(el.clientWidth - holder.width) > 1) { holder.draw(); }
      }).observe(el);
    }
    return holder;
  };
})();
