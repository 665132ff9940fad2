import { testRule } from '../../../test/test-rule.ts';

testRule('no-map-filter-chain', {
  valid: ['users.map(f);', 'users.filter(f).length;', 'map(filter(users));'],
  invalid: [
    { code: 'users.filter(f).filter(g).map(h).map(i);' },
    { code: 'use(users.filter(f).map(g));' },
    {
      code: '[...users].filter((u) => u.age > 18).filter((user) => user.name || user.id);',
      suggested: [
        '[...users].filter((u) => {',
        '  return u.age > 18 && (u.name || u.id);',
        '});',
      ].join('\n'),
    },
    {
      code: "const names = text.split(',').filter((name) => name !== '').map((name) => ({ name }));",
      suggested: [
        "const names = text.split(',').reduce((found, name) => {",
        "  if (!(name !== '')) return found;",
        '  found.push({ name });',
        '  return found;',
        '}, []);',
      ].join('\n'),
    },
    {
      code: [
        'function f() {',
        '  return priced([{ price: 1 }], 3);',
        '}',
        'function priced(items, most) {',
        '  return items',
        '    .map(function (item) {',
        '      var price = item.price * 2;',
        '      return {',
        '        price: price,',
        '      };',
        '    })',
        '    .filter(function (item) {',
        '      return item.price > 1;',
        '    })',
        '    .filter(function (item) {',
        '      return item.price < most;',
        '    });',
        '}',
      ].join('\n'),
      suggested: [
        'function f() {',
        '  return priced([{ price: 1 }], 3);',
        '}',
        'function priced(items, most) {',
        '  return items',
        '    .reduce(function (found, item) {',
        '      var price = item.price * 2;',
        '      var made = {',
        '        price: price,',
        '      };',
        '      if (!(made.price > 1 && made.price < most)) return found;',
        '      found.push(made);',
        '      return found;',
        '    }, []);',
        '}',
      ].join('\n'),
    },
    {
      code: '[1].map((n) => JSON.stringify(n, null, 2)).map((s) => JSON.parse(s));',
      suggested: [
        '[1].map((n) => {',
        '  const made = JSON.stringify(n, null, 2);',
        '  return JSON.parse(made);',
        '});',
      ].join('\n'),
    },
    // It may be no array.
    { code: 'users.filter((u) => u.age > 18).filter((user) => user.name || user.id);' },
    { code: 'users.filter((u) => u.age > 18).map((u) => u.name);' },
    {
      code: 'function f(users) { return users.map((u) => u.name).map((n) => n.length); } f(given);',
    },
    {
      code: 'export_ = f; function f(users) { return users.map((u) => u.a).map((n) => n.b); } f([]);',
    },
    // A callback does more than compute, or looks at more than the element.
    { code: '[1].filter((n) => seen.add(n)).map((n) => n);' },
    { code: '[1].map((n) => JSON.parse(n, revive)).map((n) => n);' },
    { code: '[1].map((n) => JSON.parse(...n)).map((n) => n);' },
    { code: '[1].map((n) => JSON.stringify(n, replace)).map((n) => n);' },
    { code: '[1].filter((n, at) => at > 0).map((n) => n);' },
    { code: '[1].filter((n) => Math.random() > n).map((n) => n);' },
    { code: '[1].filter((n) => /a/g.test(n)).map((n) => n);' },
    { code: '[1].filter(function (n) { return this.n; }).map((n) => n);' },
    { code: '[1].filter(function (n) { return arguments[1]; }).map((n) => n);' },
    { code: '[1].filter((n) => n, this).map((n) => n);' },
    { code: '[1].filter(async (n) => n).map((n) => n);' },
    { code: '[1].filter((n) => { count++; return n; }).map((n) => n);' },
    // One body would hide what the other takes from around it, or declare the same.
    {
      code: 'function f(n) { return [1].map((m) => { const n = m; return n; }).map((m) => m + n); }',
    },
    { code: '[1].map((m) => { const n = m; return n; }).map((m) => { const n = m; return n; });' },
    { code: 'function f(m) { return [1].map((m) => m + 1).map((n) => m + n); }' },
    // What a person wrote of it would be lost.
    { code: '[1].filter((n) => n /* not zero */).map((n) => n);' },
    { code: 'users.map(f).filter(Boolean);' },
  ],
});
