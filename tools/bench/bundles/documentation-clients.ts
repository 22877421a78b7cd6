/**
 * What the documentation function needs of the SDK and nothing else: the measure for its own bundle.
 * The client is made when this is loaded, as the function makes it.
 */
import { ConditionalCheckFailedException, DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient, GetCommand, PutCommand, paginateScan } from '@aws-sdk/lib-dynamodb'

export const dynamodb = DynamoDBDocumentClient.from(new DynamoDBClient({}))

export const used = [ConditionalCheckFailedException, GetCommand, PutCommand, paginateScan]
