package lambdaruntime

import (
	"encoding/json"
	"fmt"
	"time"
)

// InvokeAsync takes an event and returns at once with the request id. A
// failed event is tried again after one and then after two minutes of stage
// time, as Lambda does; one that still fails goes to the function's
// destination and dead-letter queue.
func (r *Runtime) InvokeAsync(name string, event []byte) (string, error) {
	f, err := r.begin(name)
	if err != nil {
		return "", err
	}
	id := r.o.NewID()
	go func() {
		defer r.end()
		r.attempts(f, id, event)
	}()
	return id, nil
}

func (r *Runtime) attempts(f *function, id string, event []byte) {
	accepted := r.o.Clock.Now()
	for attempt := 1; ; attempt++ {
		res, err := r.invoke(r.ctx, f, id, event)
		if err != nil {
			if r.ctx.Err() != nil {
				return // the stage ends
			}
			// The process could not be started at all: to the function's
			// event that is a failed attempt like any other.
			res = Result{RequestID: id, FunctionError: "Unhandled", MaxMemoryMB: -1, Payload: errorObject("Runtime.Unknown", "%v", err)}
		}
		r.o.Observe(Invocation{Function: f.Name, Async: true, Attempt: attempt, Event: event, Result: res})
		wait := time.Duration(attempt) * time.Minute
		switch decide(res, attempt, f.MaxRetries, r.o.Clock.Now().Add(wait).Sub(accepted), f.MaxAge) {
		case succeeded:
			r.destination(f, f.OnSuccessARN, "Success", event, res, attempt)
			return
		case exhausted:
			r.giveUp(f, "RetriesExhausted", event, res, attempt)
			return
		case tooOld:
			r.giveUp(f, "EventAgeExceeded", event, res, attempt)
			return
		case again:
			if !r.sleep(wait) {
				return
			}
		}
	}
}

type verdict int

const (
	succeeded verdict = iota
	again
	exhausted
	tooOld
)

// decide tells what comes after an attempt; age is how old the event will be
// at the next one.
func decide(res Result, attempt, maxRetries int, age, maxAge time.Duration) verdict {
	switch {
	case res.FunctionError == "":
		return succeeded
	case attempt > maxRetries:
		return exhausted
	case age > maxAge:
		return tooOld
	default:
		return again
	}
}

// sleep waits for the next attempt; false when the stage ends.
func (r *Runtime) sleep(d time.Duration) bool {
	r.mu.Lock()
	r.count(-1)
	r.backoff++
	r.mu.Unlock()
	err := r.o.Clock.Sleep(r.ctx, d)
	r.mu.Lock()
	r.count(1)
	r.backoff--
	r.mu.Unlock()
	return err == nil
}

func (r *Runtime) giveUp(f *function, condition string, event []byte, res Result, attempts int) {
	r.destination(f, f.OnFailureARN, condition, event, res, attempts)
	if f.DeadLetterARN == "" || r.o.Send == nil {
		return
	}
	var object struct {
		Message string `json:"errorMessage"`
	}
	if err := json.Unmarshal(res.Payload, &object); err != nil {
		object.Message = "Unknown"
	}
	// Lambda's dead letter is the event itself with these attributes.
	err := r.o.Send(f.DeadLetterARN, string(event), map[string]string{
		"RequestID": res.RequestID, "ErrorCode": "200", "ErrorMessage": object.Message,
	})
	r.sendFailed(f, res.RequestID, f.DeadLetterARN, err)
}

// destination sends an invocation record, as the Lambda guide shows it.
func (r *Runtime) destination(f *function, arn, condition string, event []byte, res Result, attempts int) {
	if arn == "" || r.o.Send == nil {
		return
	}
	type object = map[string]any
	response := object{"statusCode": 200, "executedVersion": "$LATEST"}
	if res.FunctionError != "" {
		response["functionError"] = res.FunctionError
	}
	record, err := json.Marshal(object{
		"version": "1.0", "timestamp": r.o.Clock.Now().UTC().Format("2006-01-02T15:04:05.000Z"),
		"requestContext": object{
			"requestId": res.RequestID, "functionArn": f.ARN + ":$LATEST", "condition": condition, "approximateInvokeCount": attempts,
		},
		"requestPayload": rawOrText(event), "responseContext": response, "responsePayload": rawOrText(res.Payload),
	})
	if err == nil {
		err = r.o.Send(arn, string(record), nil)
	}
	r.sendFailed(f, res.RequestID, arn, err)
}

// sendFailed says in the function's log what was lost.
func (r *Runtime) sendFailed(f *function, id, arn string, err error) {
	if err != nil {
		r.o.Log(Line{Time: time.Now(), Function: f.Name, RequestID: id, Stream: "platform", Text: fmt.Sprintf("LOST RequestId: %s could not be sent to %s: %v", id, arn, err)})
	}
}

// rawOrText keeps JSON as it is and makes a string of anything else.
func rawOrText(b []byte) any {
	if len(b) == 0 {
		return nil
	}
	if json.Valid(b) {
		return json.RawMessage(b)
	}
	return string(b)
}
