package main

import (
	"rollcall/local/simaws"
)

// use is one line of the bill.
type use struct {
	what  string
	count float64
	price float64 // in US dollars for one
}

// The public prices of us-east-1, November 2026, in US dollars: DynamoDB on
// demand, Lambda on arm64, EventBridge custom events, SQS FIFO, CloudWatch
// Logs. Calls to EC2 and EKS cost nothing.
const (
	priceWrite      = 0.625 / 1e6
	priceRead       = 0.125 / 1e6
	priceInvocation = 0.20 / 1e6
	priceGBSecond   = 0.0000133334
	priceEvent      = 1.00 / 1e6
	priceMessage    = 0.50 / 1e6
	priceLogByte    = 0.50 / 1e9
)

// bill counts what runs took, with so many GB of memory.
func bill(r result, table map[string]simaws.Used, memory float64, logged int) []use {
	reads, writes := 0.0, 0.0
	for operation, u := range table {
		switch operation {
		case "PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems":
			writes += u.Units
		default:
			reads += u.Units
		}
	}
	return []use{
		{"DynamoDB write units", writes, priceWrite},
		{"DynamoDB read units", reads, priceRead},
		{"Lambda GB-seconds", r.worked.Seconds() * memory, priceGBSecond},
		{"Lambda invocations", float64(r.runs), priceInvocation},
		{"events on the bus, one for each delete", float64(r.deleted), priceEvent},
		{"messages to report", float64(r.by["sqs:SendMessage"]), priceMessage},
		{"log bytes", float64(logged), priceLogByte},
	}
}

// cost is the sum in US dollars.
func cost(list []use) float64 {
	sum := 0.0
	for _, u := range list {
		sum += u.count * u.price
	}
	return sum
}
