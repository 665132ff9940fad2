// The server as it was found: it works, it is old, and it takes all of a core.
var catalog = require('./catalog');

/* ---- router ---- */

function Router() {
  this.data = [];
}

Router.prototype.add = function (name, pattern, handler) {
  this.data.push({ name: name, _options: { regexp_obj: new RegExp(pattern) }, handler: handler });
};

Router.prototype.getByUrl = function (url) {
  for (var i in this.data) {
    if (this.data[i]._options.regexp_obj.test(url)) return this.data[i];
  }
  return null;
};

var router = new Router();
catalog.pages.forEach(function (page) {
  router.add(page.name, page.pattern, staticPage);
});
router.add('list', '^/shop/([a-z]+)/list$', listPage);
router.add('item', '^/shop/([a-z]+)/item/(\\d+)$', itemPage);

/* ---- log: the last requests, for the operators' page ---- */

var lastRequests = [];

function pad(val) {
  return val >= 10 ? val : '0' + val;
}

function getTime(date) {
  return [pad(date.getUTCHours()), pad(date.getUTCMinutes()), pad(date.getUTCSeconds())].join(':');
}

function log() {
  var parts = Array.prototype.slice.call(arguments);
  lastRequests.push([getTime(new Date()), parts.join(' ')].join(' '));
  while (lastRequests.length > 50) lastRequests.shift();
}

/* ---- what every request brings ---- */

function parsePairs(text, separator) {
  return text
    .split(separator)
    .map(function (part) {
      return part.trim();
    })
    .filter(function (part) {
      return part.length > 0;
    })
    .reduce(function (all, part) {
      var pair = part.split('=');
      var one = {};
      one[pair[0]] = decodeURIComponent(pair[1] || '');
      return Object.assign({}, all, one);
    }, {});
}

var inFlight = {};
var requests = 0;

function begin(cookies) {
  var id = 'request-' + ++requests;
  inFlight[id] = { customer: cookies.customer || 'guest', began: new Date().getTime() };
  return id;
}

function end(id) {
  var entry = inFlight[id];
  delete inFlight[id];
  return new Date().getTime() - entry.began;
}

function mayList(category, scope) {
  return catalog.permissions.indexOf('shop.' + category + '.list.' + scope) !== -1;
}

/* ---- the list ---- */

function selectItems(category, query) {
  return catalog.products
    .filter(function (product) {
      return product.category === category;
    })
    .filter(function (product) {
      return !query.color || query.color.split(',').indexOf(product.color) !== -1;
    })
    .filter(function (product) {
      return product.stock > 0;
    });
}

function priceItems(items, query) {
  return items
    .map(function (product) {
      var discount = parseFloat(query.discount || '0');
      var price = parseFloat((product.price * (1 - discount / 100)).toFixed(2));
      return Object.assign({}, product, {
        price: price,
        vat: parseFloat((price * 0.2).toFixed(2)),
      });
    })
    .filter(function (product) {
      return product.price >= parseFloat(query.min || '0');
    })
    .filter(function (product) {
      return product.price <= parseFloat(query.max || '1000000');
    });
}

function countBy(items, key) {
  return items.reduce(function (counts, product) {
    var one = {};
    one[product[key]] = (counts[product[key]] || 0) + 1;
    return Object.assign({}, counts, one);
  }, {});
}

function namesOf(items) {
  var names = [];
  items.forEach(function (product) {
    if (names.indexOf(product.brand) === -1) names = names.concat([product.brand]);
  });
  return names.sort();
}

function cheapest(items) {
  return items.slice().sort(function (a, b) {
    return a.price - b.price || a.id - b.id;
  })[0];
}

function bannerFor(category) {
  return catalog.banners.filter(function (banner) {
    return banner.active && banner.category === category;
  })[0];
}

function twoDigits(val) {
  return ('0' + val).slice(-2);
}

function formatDate(date) {
  return (
    [date.getUTCFullYear(), twoDigits(date.getUTCMonth() + 1), twoDigits(date.getUTCDate())].join(
      '-'
    ) +
    ' ' +
    [twoDigits(date.getUTCHours()), twoDigits(date.getUTCMinutes())].join(':')
  );
}

function render(items, page) {
  return items
    .map(function (product) {
      return {
        id: product.id,
        title: product.title,
        color: product.color,
        price: product.price.toFixed(2),
        vat: product.vat,
        added: formatDate(product.added),
      };
    })
    .slice((page - 1) * 10, page * 10);
}

function listPage(request) {
  var query = request.query;
  if (!mayList(request.category, 'guest')) return { status: 403, body: '{"error":"not allowed"}' };
  var items = priceItems(selectItems(request.category, query), query);
  var best = cheapest(items);
  var banner = bannerFor(request.category);
  return {
    status: 200,
    body: JSON.stringify({
      customer: request.cookies.customer || 'guest',
      total: items.length,
      colors: countBy(items, 'color'),
      brands: namesOf(items),
      best: best ? best.id : null,
      banner: banner ? banner.text : null,
      items: render(items, parseInt(query.page || '1', 10)),
    }),
  };
}

/* ---- the other pages ---- */

function itemPage(request) {
  var product = catalog.products.filter(function (each) {
    return each.id === parseInt(request.id, 10);
  })[0];
  if (!product) return { status: 404, body: '{"error":"no such item"}' };
  return { status: 200, body: JSON.stringify(render(priceItems([product], {}), 1)[0] || {}) };
}

function staticPage(request) {
  return { status: 200, body: JSON.stringify({ page: request.path }) };
}

/* ---- the request ---- */

function respond(res, answer) {
  res.writeHead(answer.status, {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(answer.body),
  });
  res.end(answer.body);
}

function handle(req, res) {
  var path = req.url.split('?')[0];
  var cookies = parsePairs(req.headers.cookie || '', ';');
  var id = begin(cookies);
  var route = router.getByUrl(path);
  var answer = { status: 404, body: '{"error":"no such page"}' };
  if (route) {
    answer = route.handler({
      path: path,
      category: path.split('/')[2],
      id: path.split('/')[4],
      cookies: cookies,
      query: parsePairs(req.url.split('?')[1] || '', '&'),
    });
  }
  respond(res, answer);
  log(req.method, req.url, answer.status, end(id) + 'ms');
}

module.exports = handle;

if (require.main === module) require('./listen')(handle);
