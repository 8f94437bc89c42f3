package main

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"rollcall/local/platform/lambdaruntime"
	"rollcall/local/platform/template"
)

type function = template.Function

// handedBack are the ids of the messages that the function gave back.
func handedBack(r lambdaruntime.Result) []string {
	var answer events.SQSEventResponse
	if json.Unmarshal(r.Payload, &answer) != nil {
		return nil // another kind of answer
	}
	var ids []string
	for _, f := range answer.BatchItemFailures {
		ids = append(ids, f.ItemIdentifier)
	}
	return ids
}

// succeeded tells that the function ended well and gave no message back.
func succeeded(r lambdaruntime.Result) bool {
	return r.FunctionError == "" && len(handedBack(r)) == 0
}

// verdict says in one line how it went.
func verdict(r lambdaruntime.Result, limit int) string {
	how := "succeeded"
	switch back := handedBack(r); {
	case r.FunctionError != "":
		how = "FAILED (" + r.FunctionError + ")"
	case len(back) > 0:
		how = fmt.Sprintf("GAVE BACK %d of its messages", len(back))
	}
	memory := ""
	if r.MaxMemoryMB >= 0 {
		memory = fmt.Sprintf(", %d of %d MB", r.MaxMemoryMB, limit)
	}
	return fmt.Sprintf("Result: %s in %s (start %s)%s", how, r.Duration.Round(time.Millisecond), r.Init.Round(time.Millisecond), memory)
}
