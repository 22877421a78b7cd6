import type { Field, FieldTypeId, SiteClient } from '../../../client/src/index.ts'

/** A form of the demo that no other test uses. */
export const form = 2

export const fieldsOf = ({ forms }: SiteClient): Promise<Field[]> => Array.fromAsync(forms.fields(form))

export const idsOf = async (client: SiteClient): Promise<number[]> => (await fieldsOf(client)).map(({ id }) => id)

/** Gives the form optional fields of these types, at positions 1, 2 and so on. */
export const fill = async (client: SiteClient, types: readonly FieldTypeId[]): Promise<void> => {
  for (const id of await idsOf(client)) await client.forms.remove(form, id)
  for (const type of types) await client.forms.add(form, { type, mandatory: false })
}
