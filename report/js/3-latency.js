"use strict";
// Distributions of latency: percentile curves, histograms, and the map of latencies over time.
(function () {
  var d = bs.data;
  if (!d) { return; }
  var pick = document.getElementById("dist");

  // sets are what the list offers: all measured points when they can be told apart, then each point.
  var sets = [];
  if (pick) {
    var byPoint = d.curves;
    var many = byPoint.filter(function (c) { return d.points[c.point].phase === "measure"; });
    if (many.length > 1 && many.length <= 8) {
      sets.push({ name: "all measured points", of: many.map(function (c, i) { return { label: d.points[c.point].label, color: i, data: c.of[0] }; }) });
    }
    byPoint.forEach(function (c) {
      var p = d.points[c.point];
      sets.push({ name: "[" + (p.i + 1) + "] " + p.label + (p.phase === "measure" ? "" : " (" + p.phase + ")"), head: p.head, of: c.of.map(function (o) { return { label: o.name, color: o.name, data: o }; }) });
    });
    sets.forEach(function (s, i) {
      bs.make("option", pick, s.name);
      if (s.head) { pick.selectedIndex = i; }
    });
  }
  function color(k) {
    var c = bs.colors();
    return typeof k === "number" ? c.set[k % c.set.length] : c[k] || c.set[5];
  }
  var marks = [1, 2, 10, 20, 100, 1000, 1e4, 1e5];
  function percentName(x) { return x === 1 ? "0 %" : +(100 * (1 - 1 / x)).toFixed(6) + " %"; }
  var curve = sets.length ? bs.chart("c-curve", 300, function (width) {
    var set = sets[pick.selectedIndex], longest = 1;
    set.of.forEach(function (o) { longest = Math.max(longest, o.data.curve.length); });
    var x = [];
    for (var i = 0; i < longest; i++) { x.push(Math.pow(10, i / d.curveSteps)); }
    return {
      opts: {
        padding: [8, 34, 0, 0], legend: { markers: bs.markers }, cursor: { drag: { x: false, y: false }, points: { size: 6 } },
        scales: { x: { time: false, distr: 3, range: function () { return [1, Math.max(10, Math.pow(10, Math.ceil((longest - 1) / d.curveSteps - 1e-9)))]; } }, y: { distr: 3, range: bs.rangeLog } },
        axes: [bs.axis({ size: 34, splits: function (u, a, min, max) { return marks.filter(function (m) { return m <= max * 1.0001 && (width > 480 || m !== 2 && m !== 20); }); }, filter: function (u, s) { return s; }, values: function (u, vs) { return vs.map(percentName); } }), bs.latencyAxis()],
        series: [{ label: "percentile", value: function (u, v) { return v === null ? "–" : percentName(v); } }].concat(set.of.map(function (o) { return bs.line(o.label, color(o.color), bs.nanos, { points: { show: false } }); }))
      },
      data: [x].concat(set.of.map(function (o) {
        return x.map(function (_, i) { return i < o.data.curve.length && o.data.curve[i] > 0 ? o.data.curve[i] : null; });
      }))
    };
  }) : null;
  var none = 1e-12; // a class without an I/O, which a logarithmic axis has no place for: below its end
  var per = d.heat ? d.heat.perDecade : 16;
  var hist = sets.length ? bs.chart("c-hist", 300, function () {
    var set = sets[pick.selectedIndex], low = Infinity, high = -1, shares = [], least = 100;
    set.of.forEach(function (o) {
      var h = o.data.hist, sum = 0, of = {};
      for (var i = 0; i < h.length; i += 2) { sum += h[i + 1]; low = Math.min(low, h[i]); high = Math.max(high, h[i]); }
      for (i = 0; i < h.length; i += 2) {
        of[h[i]] = 100 * h[i + 1] / sum;
        least = Math.min(least, of[h[i]]);
      }
      shares.push(of);
    });
    var x = [];
    for (var b = low; b <= high + 1; b++) { x.push(Math.pow(10, b / per)); }
    return {
      opts: {
        padding: [8, 24, 0, 0], legend: { markers: bs.markers }, cursor: { drag: { x: false, y: false }, points: { size: 6 } },
        scales: { x: { time: false, distr: 3, range: function (u, min, max) { return [min, max]; } }, y: { distr: 3, range: function () { return bs.rangeLog(null, least, 100); } } },
        axes: [bs.axis({ size: 34, splits: bs.logSplits, filter: function (u, s) { return s; }, values: function (u, vs) { return vs.map(bs.nanos); } }),
          bs.axis({ size: 70, splits: bs.logSplits, filter: function (u, s) { return s; }, values: function (u, vs) { return vs.map(function (v) { return +v.toPrecision(3) + " %"; }); } })],
        series: [{ label: "from", value: function (u, v) { return bs.nanos(v); } }].concat(set.of.map(function (o) {
          return bs.line(o.label, color(o.color), function (v) { return v === null || v === undefined ? "–" : v <= none ? "0 %" : bs.num(v, 3) + " %"; },
            { paths: uPlot.paths.stepped({ align: 1 }), points: { show: false } });
        }))
      },
      data: [x].concat(shares.map(function (of) { return x.map(function (_, i) { return of[low + i] || none; }); }))
    };
  }) : null;
  if (pick) {
    pick.addEventListener("change", function () { curve.draw(); hist.draw(); });
    document.getElementById("curves-csv").addEventListener("click", function () {
      var rows = [["point", "label", "direction", "percentile", "latency_ns"]];
      d.curves.forEach(function (c) {
        c.of.forEach(function (o) {
          o.curve.forEach(function (v, i) { rows.push([d.points[c.point].i + 1, d.points[c.point].label, o.name, +(100 * (1 - Math.pow(10, -i / d.curveSteps))).toFixed(6), v]); });
        });
      });
      bs.save("percentiles.csv", "text/csv", bs.csv(rows));
    });
  }

  // The map: a column of time after the other, each with the classes of latency that its I/Os lie in.
  var m = d.heat;
  if (!m || !m.x.length) { return; }
  // shade is the colour of a share of 1e-5 to 1, by its logarithm; rarer ones have the first colour, so that a
  // single I/O in a million is still seen.
  var stops = [[190, 214, 236], [122, 179, 217], [52, 128, 190], [18, 78, 143], [6, 30, 70]];
  var darkStops = [[30, 62, 92], [32, 104, 160], [70, 156, 214], [160, 212, 248], [255, 246, 214]];
  function shade(share) {
    var s = bs.dark() ? darkStops : stops, t = Math.max(0, Math.min(1, 1 + Math.log10(share) / 5)) * (s.length - 1);
    var i = Math.min(s.length - 2, Math.floor(t)), f = t - i;
    return "rgb(" + [0, 1, 2].map(function (k) { return Math.round(s[i][k] + f * (s[i + 1][k] - s[i][k])); }).join(",") + ")";
  }
  var low = Infinity, high = 0, sums = [];
  m.cells.forEach(function (c) {
    var sum = 0;
    for (var i = 0; i < c.length; i += 2) { sum += c[i + 1]; low = Math.min(low, c[i]); high = Math.max(high, c[i]); }
    sums.push(sum);
  });
  var edges = [Math.pow(10, low / per), Math.pow(10, (high + 1) / per)];
  function paint(u) {
    var ctx = u.ctx, b = u.bbox;
    ctx.save();
    ctx.beginPath();
    ctx.rect(b.left, b.top, b.width, b.height);
    ctx.clip();
    m.cells.forEach(function (c, k) {
      if (m.x[k] + m.w[k] < u.scales.x.min || m.x[k] > u.scales.x.max) { return; }
      var x0 = Math.floor(u.valToPos(m.x[k], "x", true)), x1 = Math.max(x0 + 1, Math.ceil(u.valToPos(m.x[k] + m.w[k], "x", true)));
      for (var i = 0; i < c.length; i += 2) {
        var y0 = Math.round(u.valToPos(Math.pow(10, (c[i] + 1) / per), "y", true)), y1 = Math.round(u.valToPos(Math.pow(10, c[i] / per), "y", true));
        ctx.fillStyle = shade(c[i + 1] / sums[k]);
        ctx.fillRect(x0, y0, x1 - x0, Math.max(1, y1 - y0));
      }
    });
    ctx.restore();
  }
  var ends = m.cells.map(function (c) { return c.length ? Math.pow(10, (c[c.length - 2] + 1) / per) : null; });
  var map = bs.chart("c-heat", 330, function () {
    var o = bs.timeOpts([{ label: "up to", stroke: "transparent", points: { show: false }, value: function (u, v) { return bs.nanos(v); } }],
      { distr: 3, range: function () { return bs.rangeLog(null, edges[0], edges[1]); } }, bs.latencyAxis());
    o.hooks.drawClear = [function (u) { bs.behind(u, true); }];
    o.hooks.draw = [paint];
    return { opts: o, data: [m.x.map(function (x, i) { return x + m.w[i] / 2; }), ends] };
  });
  if (map) { map.wide = true; }
  bs.addTime(map);
  function scale() {
    var c = document.getElementById("heat-scale"), ctx = c.getContext("2d");
    for (var i = 0; i < c.width; i++) {
      ctx.fillStyle = shade(Math.pow(10, -5 + 5 * i / (c.width - 1)));
      ctx.fillRect(i, 0, 1, c.height);
    }
  }
  scale();
  bs.onRedraw(scale);
})();
