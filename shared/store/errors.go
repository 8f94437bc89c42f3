package store

import (
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
)

// Conflict is a write over another version than the one that was read:
// somebody else wrote in between. Read again, decide again.
type Conflict struct {
	// Record is the record's sort key.
	Record string
	// Over is the version that the write was for; 0 stands for none.
	Over  int
	cause error
}

func (e *Conflict) Error() string {
	if e.Over == 0 {
		return "it exists already"
	}
	return fmt.Sprintf("it is not at version %d any more", e.Over)
}

// Unwrap gives DynamoDB's error.
func (e *Conflict) Unwrap() error { return e.cause }

// NewerFormat is a record that a newer version of Rollcall wrote. It is left
// alone: to write it would lose what the newer version knows.
type NewerFormat struct {
	Record string
	// Written is the record's format; 0 where only the refused write tells of it.
	Written int
	Known   int
}

func (e *NewerFormat) Error() string {
	if e.Written == 0 {
		return fmt.Sprintf("record %s has a newer format than %d, which this version of Rollcall knows: deploy the newer version again", e.Record, e.Known)
	}
	return fmt.Sprintf("record %s has format %d, this version of Rollcall knows up to %d: deploy the newer version again", e.Record, e.Written, e.Known)
}

// ErrForeign: a record is of another spoke than the store. Nothing of one account may be
// kept as another's.
var ErrForeign = errors.New("it is of another account or region")

// OlderLeftOut is a history of more launches than are read: what is beside it
// is all that began since a time.
type OlderLeftOut struct {
	Since time.Time
	Most  int
}

func (e *OlderLeftOut) Error() string {
	return fmt.Sprintf("there are more than %d launches: those from before %s are left out", e.Most, e.Since.UTC().Format(time.RFC3339))
}

// AtLimit is a table, or an account, that takes no more for now.
type AtLimit struct {
	// Code is DynamoDB's error code.
	Code  string
	cause error
}

func (e *AtLimit) Error() string {
	return fmt.Sprintf("the table is at its limit (%s): raise its maximum throughput or the account's quota, or look for what else uses the table: %v", e.Code, e.cause)
}

// Unwrap gives DynamoDB's error.
func (e *AtLimit) Unwrap() error { return e.cause }

// TooLarge is a record over DynamoDB's 400 KB of an item.
type TooLarge struct {
	Record string
	Bytes  int
	cause  error
}

func (e *TooLarge) Error() string {
	return fmt.Sprintf("record %s has %d bytes, DynamoDB takes 400 KB", e.Record, e.Bytes)
}

// Unwrap gives DynamoDB's error.
func (e *TooLarge) Unwrap() error { return e.cause }

// maxItem is DynamoDB's limit of an item: 400 KB, names of attributes included.
const maxItem = 400 << 10

// maxBody leaves room in an item for the other attributes and their names:
// keys of at most 3 KB, and a few numbers.
const maxBody = maxItem - 16<<10

// classify gives DynamoDB's errors the types that callers decide on.
func classify(err error, it item, bytes int) error {
	var failed *types.ConditionalCheckFailedException
	if errors.As(err, &failed) {
		return &Conflict{Record: it.sk, Over: it.version - 1, cause: err}
	}
	var api smithy.APIError
	if !errors.As(err, &api) {
		return err
	}
	switch code := api.ErrorCode(); code {
	case "ProvisionedThroughputExceededException", "RequestLimitExceeded", "ThrottlingException",
		"LimitExceededException", "ItemCollectionSizeLimitExceededException":
		return &AtLimit{Code: code, cause: err}
	case "ValidationException":
		// DynamoDB has no code of its own for an item that is too large; the
		// size itself tells.
		if bytes > maxItem-4<<10 {
			return &TooLarge{Record: it.sk, Bytes: bytes, cause: err}
		}
	}
	return err
}
