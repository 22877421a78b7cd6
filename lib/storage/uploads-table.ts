import { type DynamoDBDocumentClient, GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb'
import { isConditionFailure } from '../dynamodb.ts'

/** Names one upload of a token; a later one has a later start, and of two at the same moment the greater id wins. */
interface UploadId {
  /** SHA-256 of the login token. */
  readonly token: string
  readonly id: string
  /** Milliseconds since the epoch. */
  readonly started: number
}

/** The Uploads table: the progress of each token's newest upload, for a day. */
export interface UploadsTable {
  /** Makes this the token's newest upload, at 0 %, unless there is a newer one. */
  begin(upload: UploadId): Promise<void>
  /** Progress never falls, and never touches a newer upload's. */
  report(upload: UploadId, percent: number): Promise<void>
  /** 0 to 100; 0 when the token has never uploaded. */
  percentOf(token: string): Promise<number>
}

const keptFor = 24 * 3600

export const createUploadsTable = (client: DynamoDBDocumentClient, table: string, now = Date.now): UploadsTable => {
  const update = async (token: string, percent: number, id: string, started: number, condition: string) => {
    try {
      await client.send(
        new UpdateCommand({
          TableName: table,
          Key: { token },
          UpdateExpression: 'SET #percent = :percent, #id = :id, #started = :started, #expires = :expires',
          ConditionExpression: condition,
          ExpressionAttributeNames: {
            '#percent': 'percent',
            '#id': 'id',
            '#started': 'started',
            '#expires': 'expires',
          },
          ExpressionAttributeValues: {
            ':percent': percent,
            ':id': id,
            ':started': started,
            ':expires': Math.floor(now() / 1000) + keptFor,
          },
        }),
      )
    } catch (error) {
      // A newer upload has the place, or the progress is there already.
      if (!isConditionFailure(error)) throw error
    }
  }

  return {
    begin: ({ token, id, started }) =>
      update(
        token,
        0,
        id,
        started,
        'attribute_not_exists(#id) OR #started < :started OR (#started = :started AND #id < :id)',
      ),

    report: ({ token, id, started }, percent) =>
      update(token, percent, id, started, '#id = :id AND #started = :started AND #percent < :percent'),

    async percentOf(token) {
      const { Item: item } = await client.send(
        new GetCommand({ TableName: table, Key: { token }, ConsistentRead: true }),
      )
      return item && item['expires'] * 1000 > now() ? Number(item['percent']) : 0
    },
  }
}
