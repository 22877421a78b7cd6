import { describe, expect, test } from 'vitest'
import { itemOf, toUpload } from '../../../lib/aws/dynamodb/upload-items.ts'
import type { SiteId } from '../../../lib/core/ids.ts'
import type { Upload } from '../../../lib/storage/uploads/upload.ts'

const target = {
  path: 'a.txt',
  asDraft: true,
  key: 'live/1001/a.txt',
  contentType: 'text/plain',
  folder: '',
  keepsDraft: false,
}

const upload: Upload = {
  id: 'a'.repeat(32),
  site: 1001 as SiteId,
  user: 'ann',
  target,
  metadata: 'filename eA==',
  limit: 100,
  length: null,
  offset: 5,
  isComplete: false,
  created: 1,
  expires: 2,
  holding: { name: 'upload', parts: ['f'.repeat(32)], tail: null },
}

describe('the record of an upload in its table', () => {
  test.each([
    ['site', 'x'],
    ['user', 5],
    ['target', undefined],
    ['target', { path: 'a.txt' }],
    ['target', { ...target, folder: 5 }],
    ['metadata', undefined],
    ['limit', '100'],
    ['length', undefined],
    ['offset', null],
    ['created', undefined],
    ['ends', undefined],
    ['holding', undefined],
    ['holding', { name: 'upload', parts: 'none', tail: null }],
    ['holding', { name: 'upload', parts: [], tail: 5 }],
  ])('is damaged, and is not taken for one, with a %s of %j', (name, value) => {
    expect(() => toUpload(upload.id, { ...itemOf(upload), [name]: value })).toThrow(
      /The record of an upload has no|holds/,
    )
  })
})
