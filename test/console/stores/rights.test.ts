import { expect, test } from 'vitest'
import { actionsOn, grantableRoles, rightsOfRoles } from '../../../console/access/roles.ts'
import { rightsToChange } from '../../../console/access/webhook-types.ts'
import { createRights } from '../../../console/page/rights.ts'
import { roleNames, roles } from '../../../lib/access/people.ts'
import { textOfRight } from '../../../lib/core/rights.ts'

const user = (name: string, role: keyof typeof rightsOfRoles) => ({
  name,
  displayName: name,
  email: '',
  disabled: false,
  invited: false,
  lastSignIn: null,
  role,
  folders: [],
  rights: [...rightsOfRoles[role]],
})

test('the console and the service agree on the rights of each role (A-49, A-50)', () => {
  for (const name of roleNames) {
    const { rights, isPerFolder } = roles[name]
    const fixed = isPerFolder ? rights.filter(({ area }) => area !== 'files') : rights
    expect([...rightsOfRoles[name]].sort()).toEqual(fixed.map(textOfRight).sort())
  }
})

test('a right on a folder covers whole segments, and may have a colon (A-33, A-41)', () => {
  const { has, canRead, canWrite } = createRights(['files:write:/a:b', 'files:read:/news', 'forms:read'])
  expect(['a:b', 'a:b/c', 'a', 'news', ''].map(canWrite)).toEqual([true, true, false, false, false])
  expect(['news', 'news/x', 'newsletter', 'a:b/c'].map(canRead)).toEqual([true, true, false, true])
  expect([has('files:write'), has('forms:read'), has('forms:write')]).toEqual([true, true, false])
})

test('a change of a webhook needs the right to read all that it reports (V-1)', () => {
  expect(rightsToChange(['file.*', 'workflow.started'])).toEqual(['history:read', 'files:read'])
  expect(rightsToChange([])).toEqual(['history:read', 'files:read', 'forms:read', 'categories:read', 'access:read'])
  expect(createRights(['history:read', 'files:write:/news']).include(rightsToChange(['file.*']))).toBe(false)
})

test('the console offers only roles that the caller can give (A-57, K-29)', () => {
  expect(grantableRoles(createRights(rightsOfRoles.owner))).toEqual(['editor', 'author', 'viewer', 'owner'])
  expect(grantableRoles(createRights(rightsOfRoles.editor))).toEqual(['editor', 'author', 'viewer'])
  expect(grantableRoles(createRights(['files:write:/news', 'history:read', 'access:write']))).toEqual(['author'])
})

test('the console offers no action that the service would refuse (A-58, A-59, K-29)', () => {
  const [ann, bob, eve] = [user('ann', 'owner'), user('bob', 'owner'), user('eve', 'editor')]
  const owner = createRights(rightsOfRoles.owner)
  const none = { canChangeRole: false, canInvite: false, canDisable: false, canRemove: false }
  expect(actionsOn(ann, [ann, eve], owner, 'ann')).toEqual(none)
  expect(actionsOn(ann, [ann, { ...bob, disabled: true }], owner, undefined)).toEqual({ ...none, canInvite: true })
  expect(actionsOn(ann, [ann, { ...bob, invited: true }], owner, undefined)).toEqual({ ...none, canInvite: true })
  expect(Object.values(actionsOn(bob, [ann, bob], owner, 'ann'))).toEqual([true, true, true, true])
  const lesser = createRights(['access:write', 'files:write'])
  expect(actionsOn(eve, [ann, eve], lesser, 'zoe')).toEqual({ ...none, canChangeRole: true, canRemove: true })
})
