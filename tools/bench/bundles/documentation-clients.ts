/** The part of the SDK that the documentation function uses. */
import { ConditionalCheckFailedException, DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient, GetCommand, PutCommand, paginateScan } from '@aws-sdk/lib-dynamodb'

export const dynamodb = DynamoDBDocumentClient.from(new DynamoDBClient({}))

export const used = [ConditionalCheckFailedException, GetCommand, PutCommand, paginateScan]
