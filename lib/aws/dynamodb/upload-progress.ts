import { GetCommand, UpdateCommand, type UpdateCommandInput } from '@aws-sdk/lib-dynamodb'
import type { UploadProgress } from '../../storage/upload-progress.ts'
import { isConditionFailure, type TableOptions } from './dynamodb.ts'

/** In seconds. */
const keptFor = 24 * 3600

/** Upload progress in the table Uploads: one item for each token. `now` is the wall clock. */
export const createUploadProgress = ({
  dynamodb: client,
  table,
  now = Date.now,
}: TableOptions & { readonly now?: (() => number) | undefined }): UploadProgress => {
  const update = async (token: string, change: Omit<UpdateCommandInput, 'TableName' | 'Key'>) => {
    try {
      await client.send(new UpdateCommand({ TableName: table, Key: { token }, ...change }))
    } catch (error) {
      // A newer upload has the place, or the progress is there already.
      if (!isConditionFailure(error)) throw error
    }
  }
  const expires = () => Math.floor(now() / 1000) + keptFor

  return {
    // The order in which uploads arrive here decides which one is the newest: a clock may be set back. A call that is repeated because its
    // answer was lost finds its upload there, or named as the one that a newer upload has replaced.
    begin: ({ token, id }) =>
      update(token, {
        UpdateExpression: 'SET #before = if_not_exists(#id, :none), #id = :id, #percent = :zero, #expires = :expires',
        ConditionExpression: 'attribute_not_exists(#id) OR (#id <> :id AND #before <> :id)',
        ExpressionAttributeNames: { '#before': 'before', '#id': 'id', '#percent': 'percent', '#expires': 'expires' },
        ExpressionAttributeValues: { ':none': '', ':id': id, ':zero': 0, ':expires': expires() },
      }),

    report: ({ token, id }, percent) =>
      update(token, {
        UpdateExpression: 'SET #percent = :percent, #expires = :expires',
        ConditionExpression: '#id = :id AND #percent < :percent',
        ExpressionAttributeNames: { '#id': 'id', '#percent': 'percent', '#expires': 'expires' },
        ExpressionAttributeValues: { ':id': id, ':percent': percent, ':expires': expires() },
      }),

    async percentOf(token) {
      const { Item: item } = await client.send(
        new GetCommand({ TableName: table, Key: { token }, ConsistentRead: true }),
      )
      return item && item['expires'] * 1000 > now() ? Number(item['percent']) : 0
    },
  }
}
