/** Records with values that are easily lost: odd characters, null, false, 0, ends of ranges, texts of several lines. */
export const oddRecords = [
  { kind: 'webForm', id: 999_999_999_999_999, name: `Ä "b" 'c' \\ 🍐 }],[{` },
  { kind: 'field', webFormId: 999_999_999_999_999, typeId: -400, name: '[x]', mandatory: true, order: 2_147_483_647 },
  { kind: 'field', webFormId: 999_999_999_999_999, typeId: -2, mandatory: false, order: 7 },
  { kind: 'category', id: 2_147_483_647, name: 'Last' },
  { kind: 'news', id: 2_147_483_647, subject: '🍐', body: 'a\nb\t\u0000"\\</script>', weight: -5, enabled: false },
  { kind: 'news', id: 900, subject: 'ﬃ'.repeat(500), releaseDate: '2026-01-31', deleted: true, slug: '' },
  { kind: 'blog', id: 900, blogName: '', weight: null, slug: 'x', postCount: 0 },
  { kind: 'link', type: 'news', categoryId: 2_147_483_647, objectId: 900, displayable: 0 },
  { kind: 'link', type: 'blog', categoryId: 2_147_483_647, objectId: 900 },
]
