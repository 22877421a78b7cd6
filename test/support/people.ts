import type { Person } from '../../lib/access/people.ts'

export const testPerson = (details: Partial<Person> = {}): Person => ({
  name: 'ann',
  displayName: 'Ann',
  email: 'ann@example.com',
  sites: { 1001: { role: 'owner' } } as Person['sites'],
  disabled: false,
  created: 1_764_000_000_000,
  sessions: 1_764_000_000_000,
  version: 1,
  ...details,
})
