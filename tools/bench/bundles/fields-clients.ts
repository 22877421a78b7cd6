/** The part of the SDK that the fields function uses. Its client is created while the module loads. */
import { ConditionalCheckFailedException, DynamoDBClient } from '@aws-sdk/client-dynamodb'
import {
  DeleteCommand,
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  paginateQuery,
  paginateScan,
  QueryCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb'

export const dynamodb = DynamoDBDocumentClient.from(new DynamoDBClient({}))

export const used = [
  ConditionalCheckFailedException,
  DeleteCommand,
  GetCommand,
  PutCommand,
  paginateQuery,
  paginateScan,
  QueryCommand,
  UpdateCommand,
]
