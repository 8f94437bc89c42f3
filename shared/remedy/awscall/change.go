package awscall

import (
	"rollcall/shared/remedy/call"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/smithy-go/middleware"
)

// once is a retryer that never tries again: who calls decides on each answer,
// and a change whose answer was lost may have been made.
func once() aws.Retryer { return aws.NopRetryer{} }

// answered is what came of a call that was answered without an error.
func answered(meta middleware.Metadata) call.Answer {
	request, _ := awsmiddleware.GetRequestIDMetadata(meta)
	return call.Answer{Outcome: call.Done, Request: request}
}

// empty is an answer that holds nothing: nobody can tell what it means.
func empty() call.Answer {
	return call.Answer{Outcome: call.Uncertain, Message: "the answer holds nothing"}
}

// refused is what an error says of a change. Codes that mean something of their
// own where an interface is deleted mean a refusal here.
func refused(err error) call.Answer {
	a := answerOf(err)
	if a.Outcome == call.InUse || a.Outcome == call.NotThere || a.Outcome == call.WouldDo {
		a.Outcome = call.Refused
	}
	return a
}
