import { expect, test } from 'vitest'
import { choose, chooseAll, nothing, retain, type Selection, step } from '../../../console/files/selection.ts'

const names = ['a', 'b', 'c', 'd', 'e']
const seen = ({ chosen, active }: Selection) => [[...chosen].sort().join(''), active]

test('a range goes from where it began to the last one chosen, and shrinks again', () => {
  const begun = choose(nothing, names, 'b', 'alone')
  const down = choose(begun, names, 'd', 'range')
  expect(seen(down)).toEqual(['bcd', 'd'])
  expect(seen(choose(down, names, 'a', 'range'))).toEqual(['ab', 'a'])
})

test('single ones are added to what is chosen, and taken away', () => {
  const two = choose(choose(nothing, names, 'b', 'alone'), names, 'e', 'toggle')
  expect(seen(two)).toEqual(['be', 'e'])
  expect(seen(choose(two, names, 'b', 'toggle'))).toEqual(['e', 'b'])
})

test('the keyboard stays within the list, and goes to its ends', () => {
  expect(seen(step(nothing, names, 1, 'alone'))).toEqual(['a', 'a'])
  expect(seen(step(nothing, names, Number.POSITIVE_INFINITY, 'alone'))).toEqual(['e', 'e'])
  expect(seen(step(choose(nothing, names, 'e', 'alone'), names, 3, 'alone'))).toEqual(['e', 'e'])
  expect(seen(step(choose(nothing, names, 'b', 'alone'), names, 2, 'toggle'))).toEqual(['b', 'd'])
  expect(seen(step(nothing, [], 1, 'alone'))).toEqual(['', undefined])
})

test('what has gone from the list is not chosen any more, and the keyboard stays at its place', () => {
  const all = chooseAll(choose(nothing, names, 'c', 'alone'), names)
  expect(seen(retain(all, names, ['a', 'b', 'd', 'x']))).toEqual(['abd', 'd'])
  expect(seen(retain(choose(nothing, names, 'e', 'alone'), names, ['a']))).toEqual(['', 'a'])
  expect(seen(retain(all, names, []))).toEqual(['', undefined])
})
