/** The part of the SDK that the storage function uses. */
import { ConditionalCheckFailedException, DynamoDBClient } from '@aws-sdk/client-dynamodb'
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  ListObjectVersionsCommand,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import {
  BatchGetCommand,
  DeleteCommand,
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  paginateQuery,
  paginateScan,
  QueryCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'

export const dynamodb = DynamoDBDocumentClient.from(new DynamoDBClient({}))
export const files = new S3Client({})
export const queue = new SQSClient({})

export const used = [
  AbortMultipartUploadCommand,
  BatchGetCommand,
  CompleteMultipartUploadCommand,
  ConditionalCheckFailedException,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  DeleteCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectVersionsCommand,
  ListObjectsV2Command,
  PutCommand,
  PutObjectCommand,
  QueryCommand,
  SendMessageCommand,
  UpdateCommand,
  UploadPartCommand,
  getSignedUrl,
  paginateQuery,
  paginateScan,
]
