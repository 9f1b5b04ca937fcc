import fc from 'fast-check';
import { isDeeperThan, rawProperty, withRaw } from '../../domain/payments/json-text';

describe('the text of a property', () => {
  it('is found as written', () => {
    expect(rawProperty('{"a": 1.10 ,"b":[1,  "]}"]}', 'a')).toBe('1.10');
    expect(rawProperty('{"a": 1.10 ,"b":[1,  "]}"]}', 'b')).toBe('[1,  "]}"]');
    expect(rawProperty(' {"x":{"a":1},"a":12345678901234567890}', 'a')).toBe('12345678901234567890');
    expect(rawProperty('{}', 'a')).toBeUndefined();
    expect(rawProperty('[1]', 'a')).toBeUndefined();
    expect(rawProperty('"a"', 'a')).toBeUndefined();
  });
  it('is the last of duplicates, in any spelling of the name', () => {
    expect(rawProperty('{"a":1,"\\u0061":2}', 'a')).toBe('2');
    expect(rawProperty('{"a":1,"a\\"":3}', 'a')).toBe('1');
    expect(rawProperty('{"__proto__":{"a":1}}', '__proto__')).toBe('{"a":1}');
  });
  it('says what JSON.parse says, whatever the object', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.boolean(), (object, isSpaced) => {
        const text = JSON.stringify(object, null, isSpaced ? 2 : 0);
        for (const key of Object.keys(object))
          expect(JSON.parse(rawProperty(text, key)!)).toEqual((JSON.parse(text) as Record<string, unknown>)[key]);
      }),
    );
  });
});

describe('a raw property', () => {
  it('is put in unchanged', () => {
    expect(withRaw({}, 'm', '{"a":1,"a":2}')).toBe('{"m":{"a":1,"a":2}}');
    expect(withRaw({ x: 1 }, 'm', ' 1.0 ')).toBe('{"x":1,"m": 1.0 }');
    expect(withRaw({ x: undefined }, 'm', null)).toBe('{}');
  });
  it('comes back as it went in', () => {
    fc.assert(
      fc.property(fc.json(), (json) => {
        expect(rawProperty(withRaw({ a: 1 }, 'm', json), 'm')).toBe(json.trim());
      }),
    );
  });
});

describe('depth', () => {
  it('counts brackets outside of strings', () => {
    expect(isDeeperThan('[[1]]', 1)).toBe(true);
    expect(isDeeperThan('[[1]]', 2)).toBe(false);
    expect(isDeeperThan('["[[[", {"a\\"[[": 1}]', 2)).toBe(false);
    expect(isDeeperThan('['.repeat(100_000), 32)).toBe(true);
  });
});
