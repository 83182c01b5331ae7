"use strict";
// Charts over time: all of them share the x axis, the cursor, and what is zoomed to.
(function () {
  var d = bs.data, zoom = document.getElementById("zoom");
  if (!d || !d.points.length) { return; }
  var names = ["read", "write", "trim"];
  var first = d.points[0].x0, last = d.points[d.points.length - 1].x1;
  var holders = [], syncing = false, view = null;

  // behind draws what the times mean: ramps, phases before the measurement, rounds, and where points begin.
  function behind(u, bare) {
    var c = bs.colors(), ctx = u.ctx, b = u.bbox, dpr = window.devicePixelRatio || 1;
    ctx.save();
    ctx.beginPath();
    ctx.rect(b.left, b.top, b.width, b.height);
    ctx.clip();
    function band(a, z, color) {
      if (z <= a || z < u.scales.x.min || a > u.scales.x.max) { return; }
      var x = u.valToPos(a, "x", true), w = u.valToPos(z, "x", true) - x;
      ctx.fillStyle = color;
      ctx.fillRect(x, b.top, Math.max(w, 1), b.height);
    }
    function edge(at, dash) {
      if (at < u.scales.x.min || at > u.scales.x.max) { return; }
      var x = Math.round(u.valToPos(at, "x", true)) + 0.5;
      ctx.setLineDash(dash);
      ctx.beginPath();
      ctx.moveTo(x, b.top);
      ctx.lineTo(x, b.top + b.height);
      ctx.stroke();
    }
    ctx.strokeStyle = c.edge;
    ctx.lineWidth = dpr;
    d.points.forEach(function (p) {
      band(p.x0, p.xw, c.ramp);
      if (bare) { return; } // on the map of latencies a tint would be a figure
      if (p.sb > p.sa) {
        band(p.xw, p.sa, c.prep);
        band(p.sa, p.sb, c.steady);
        band(p.sb, p.x1, c.prep);
      } else if (p.phase !== "measure") { band(p.xw, p.x1, c.prep); }
    });
    var shown = d.points.filter(function (p) { return p.x1 >= u.scales.x.min && p.x0 <= u.scales.x.max; });
    if (shown.length <= 120) { shown.forEach(function (p) { if (p.x0 > first) { edge(p.x0, []); } }); }
    shown.forEach(function (p) {
      if (!p.round) { return; }
      var n = (p.x1 - p.xw) / p.round;
      for (var k = 1; k < n - 1e-6 && n < 300; k++) { edge(p.xw + k * p.round, [2 * dpr, 3 * dpr]); }
    });
    ctx.restore();
  }

  function zoomAll(min, max) {
    view = [min, max];
    syncing = true;
    holders.forEach(function (h) { if (h.u && (h.u.scales.x.min !== min || h.u.scales.x.max !== max)) { h.u.setScale("x", { min: min, max: max }); } });
    syncing = false;
  }
  function inView() { return view || [first, Math.max(last, first + 1e-3)]; }
  bs.behind = behind;
  bs.markers = { fill: function (u, i) { return u.series[i].stroke(u, i); }, width: 0 };
  bs.timeOpts = function (series, y, yAxis, more) {
    var o = {
      padding: [8, 26, 0, 0],
      cursor: { sync: { key: "time", setSeries: false }, drag: { x: true, y: false }, points: { size: 6 } },
      legend: { markers: bs.markers },
      scales: { x: { time: false, range: inView }, y: y },
      axes: [bs.timeAxis(), yAxis],
      series: [{ label: "time", value: function (u, v) { return bs.time(v); } }].concat(series),
      hooks: {
        drawClear: [function (u) { behind(u, false); }],
        setSelect: [function (u) {
          if (u.select.width > 3) {
            zoomAll(u.posToVal(u.select.left, "x"), u.posToVal(u.select.left + u.select.width, "x"));
            u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          }
        }],
        ready: [function (u) { u.over.addEventListener("dblclick", function () { show(-1); }); }]
      }
    };
    o.cursor.drag.setScale = false;
    for (var k in more) { o[k] = more[k]; }
    return o;
  };
  bs.addTime = function (holder) { if (holder) { holders.push(holder); } };

  // alone are the places between two gaps, which no line reaches: they are drawn as dots.
  function alone(u, i, show) {
    if (show) { return null; }
    var col = u.data[i], none = function (v) { return v === null || v === undefined; }, out = [];
    col.forEach(function (v, k) { if (!none(v) && none(col[k - 1]) && none(col[k + 1])) { out.push(k); } });
    return out;
  }
  function line(label, color, value, more) {
    var s = { label: label, stroke: color, width: 1.5, spanGaps: false, value: function (u, v) { return value(v); }, points: { size: 4, filter: alone } };
    for (var k in more) { s[k] = more[k]; }
    return s;
  }
  bs.line = line;
  if (!d.x.length) { return; } // what is above, charts of latencies need, too; without rows there are no others

  var rateY = { range: bs.rangeZero }, latencyY = { distr: 3, range: bs.rangeLog };
  var rate = function (v) { return v === null || v === undefined ? "–" : bs.num(v, 5); };
  function positive(col) { return col.map(function (v) { return v > 0 ? v : null; }); }

  // A direction that a point does not use has no rate there, which is not the same as a rate of 0.
  d.dirs.forEach(function (f) {
    var used = {};
    d.pt.forEach(function (p, i) { if (f.iops[i] > 0) { used[p] = true; } });
    ["iops", "bps"].forEach(function (key) { f[key] = f[key].map(function (v, i) { return v === null || used[d.pt[i]] ? v : null; }); });
  });

  // A purge names terabytes a second, beside which everything else would lie on the ground: where something else is
  // in sight, too, the axis is that of the rest, and the caption says so.
  function purged(i) { return d.pt[i] !== null && d.points[d.pt[i]].phase === "purge"; }
  function restY(id) {
    var said = document.getElementById(id).parentNode.querySelector(".beyond");
    return { range: function (u, min, max) {
      var rest = 0, all = 0, sight = inView();
      u.series.forEach(function (s, k) {
        if (!k || !s.show || !u.data[k]) { return; }
        u.data[k].forEach(function (v, i) {
          if (d.x[i] < sight[0] || d.x[i] > sight[1] || !(v > rest)) { return; }
          all = Math.max(all, v);
          if (!purged(i)) { rest = Math.max(rest, v); }
        });
      });
      var beyond = rest > 0 && all > 2 * rest;
      said.textContent = beyond ? "; the purge, up to " + rate(all) + ", lies beyond the axis" : "";
      return bs.rangeZero(u, 0, beyond ? rest : max);
    } };
  }

  // One chart of rates: a line per direction, and their sum where there are several.
  function rates(id, key, factor, band) {
    bs.addTime(bs.chart(id, 230, function () {
      var c = bs.colors(), series = [], data = [d.x], bands = [];
      var scale = function (col) { return factor === 1 ? col : col.map(function (v) { return v === null ? null : v * factor; }); };
      if (band && d.low) {
        var soft = { width: 0.5, points: { show: false } };
        data.push(d.high, d.low);
        series.push(line("fastest interval", c.grid, rate, soft), line("slowest interval", c.grid, rate, soft));
        bands.push({ series: [1, 2], fill: bs.dark() ? "rgba(198,208,218,.22)" : "rgba(58,69,82,.16)" });
      }
      if (d.dirs.length !== 1) {
        data.push(scale(d.total[key]));
        series.push(line("total", c.total, rate));
      }
      d.dirs.forEach(function (f) {
        data.push(scale(f[key]));
        series.push(line(f.name, c[f.name], rate));
      });
      return { opts: bs.timeOpts(series, restY(id), bs.countAxis(), { bands: bands }), data: data };
    }));
  }
  // One chart of latencies; where I/Os have planned times, the response times are dashed.
  function latencies(id, key, response) {
    bs.addTime(bs.chart(id, 230, function () {
      var c = bs.colors(), series = [], data = [d.x];
      d.dirs.forEach(function (f) {
        series.push(line(f.name, c[f.name], bs.nanos));
        data.push(positive(f[key]));
        if (response && f[response]) {
          series.push(line(f.name + ", response", c[f.name], bs.nanos, { dash: [5, 4] }));
          data.push(positive(f[response]));
        }
      });
      return { opts: bs.timeOpts(series, latencyY, bs.latencyAxis()), data: data };
    }));
  }
  rates("c-iops", "iops", 1, true);
  rates("c-bps", "bps", 1e-6, false);
  latencies("c-mean", "mean");
  latencies("c-sd", "sd");
  latencies("c-p99", "p99", "rp99");
  latencies("c-max", "max", "rmax");

  var percent = function (v) { return v === null || v === undefined ? "–" : bs.num(v, 3) + " %"; };
  bs.addTime(bs.chart("c-cpu", 210, function () {
    var c = bs.colors();
    return {
      opts: bs.timeOpts([line("user", c.set[0], percent), line("system", c.set[1], percent), line("iowait", c.set[2], percent)], { range: function () { return [0, 100]; } }, bs.countAxis(" %")),
      data: [d.x, d.cpu.user, d.cpu.system, d.cpu.iowait]
    };
  }));
  bs.addTime(bs.chart("c-steal", 210, function () {
    var c = bs.colors(), series = [line("steal", c.set[3], percent)], data = [d.x, d.cpu.steal];
    if (d.low) {
      series.push(line("worst interval", c.dim, percent, { width: 0.75 }));
      data.push(d.cpu.stealMax);
    }
    return { opts: bs.timeOpts(series, { range: function (u, a, b) { return [0, Math.max(5, bs.rangeZero(u, a, b)[1])]; } }, bs.countAxis(" %")), data: data };
  }));
  bs.addTime(bs.chart("c-depth", 210, function () {
    var c = bs.colors(), series = [line("in flight, of blkstorm", c.set[0], rate)], data = [d.x, d.cpu.inflight];
    if (d.cpu.queue) {
      series.push(line("in the kernel and the device, on average", c.set[1], rate));
      data.push(d.cpu.queue);
    }
    return { opts: bs.timeOpts(series, rateY, bs.countAxis()), data: data };
  }));
  if (d.temp.length) {
    bs.addTime(bs.chart("c-temp", 210, function () {
      var c = bs.colors();
      return {
        opts: bs.timeOpts(d.temp.map(function (t, i) { return line(t.name, c.set[i % c.set.length], rate); }), { range: function (u, a, b) { return a === null ? [20, 70] : [Math.floor(a / 5) * 5 - 5, Math.ceil(b / 5) * 5 + 5]; } }, bs.countAxis(" °C")),
        data: [d.x].concat(d.temp.map(function (t) { return t.c; }))
      };
    }));
  }

  // Targets over time, one figure at a time.
  var metrics = [["iops", "IOPS"], ["bps", "MB/s"], ["mean", "mean latency"], ["p99", "p99 latency, the worst of its intervals"], ["max", "worst latency"]];
  var pick = document.getElementById("target-metric");
  if (pick && d.targets.length > 1) {
    metrics.forEach(function (m) { bs.make("option", pick, m[1]); });
    var targets = bs.chart("c-targets", 300, function () {
      var c = bs.colors(), key = metrics[pick.selectedIndex][0], isRate = pick.selectedIndex < 2;
      document.getElementById("target-caption").textContent = "Targets: " + metrics[pick.selectedIndex][1];
      return {
        opts: bs.timeOpts(d.targets.map(function (t, i) {
          return line(t.name, c.set[i % c.set.length], isRate ? rate : bs.nanos, { width: d.targets.length > 8 ? 1 : 1.5, dash: i >= c.set.length ? [6, 3] : undefined });
        }), isRate ? rateY : latencyY, isRate ? bs.countAxis() : bs.latencyAxis()),
        data: [d.x].concat(d.targets.map(function (t) {
          return key === "bps" ? t.bps.map(function (v) { return v === null ? null : v / 1e6; }) : isRate ? t[key] : positive(t[key]);
        }))
      };
    });
    bs.addTime(targets);
    pick.addEventListener("change", function () { targets.draw(); });
  }

  // What is shown: the whole run, or one point.
  bs.make("option", zoom, "the whole run");
  d.points.forEach(function (p) { bs.make("option", zoom, "[" + (p.i + 1) + "] " + p.label + (p.phase === "measure" ? "" : " (" + p.phase + ")")); });
  function show(i) {
    if (zoom) { zoom.selectedIndex = i + 1; }
    if (i < 0) { zoomAll(first, Math.max(last, first + 1e-3)); return; }
    zoomAll(d.points[i].x0, Math.max(d.points[i].x1, d.points[i].x0 + 1e-3));
  }
  zoom.addEventListener("change", function () { show(zoom.selectedIndex - 1); });

  function keys() {
    var c = bs.colors();
    [["key-ramp", c.ramp], ["key-prep", c.prep], ["key-steady", c.steady]].forEach(function (k) { document.getElementById(k[0]).style.background = k[1]; });
  }
  keys();
  bs.onRedraw(keys);

  document.getElementById("series-csv").addEventListener("click", function () {
    var head = ["point", "label", "phase", "t_s", "length_s"], cols = [];
    function add(name, col) { if (col && col.length) { head.push(name); cols.push(col); } }
    function flow(f, prefix) {
      add(prefix + "iops", f.iops);
      add(prefix + "bytes_per_s", f.bps);
      add(prefix + "mean_ns", f.mean);
      add(prefix + "stddev_ns", f.sd);
      add(prefix + "p99_ns", f.p99);
      add(prefix + "max_ns", f.max);
      add(prefix + "response_p99_ns", f.rp99);
      add(prefix + "response_max_ns", f.rmax);
      add(prefix + "errors", f.err);
    }
    flow(d.total, "");
    add("iops_lowest", d.low);
    add("iops_highest", d.high);
    d.dirs.forEach(function (f) { flow(f, f.name + "_"); });
    ["user", "system", "iowait", "steal"].forEach(function (k) { add("cpu_" + k + "_pct", d.cpu[k]); });
    add("inflight", d.cpu.inflight);
    add("kernel_queue", d.cpu.queue);
    d.temp.forEach(function (t) { add("temperature_c " + t.name, t.c); });
    d.targets.forEach(function (t) { flow(t, t.name + " "); });
    var rows = [head];
    d.x.forEach(function (x, i) {
      if (d.pt[i] === null) { return; }
      var p = d.points[d.pt[i]];
      rows.push([p.i + 1, p.label, p.phase, +(x - d.len[i] / 2 - p.xw).toFixed(3), d.len[i]].concat(cols.map(function (c) { return c[i]; })));
    });
    bs.save("series.csv", "text/csv", bs.csv(rows));
  });
})();
