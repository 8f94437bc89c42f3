package fakeslack

import "time"

// Call is one request to the Web API, as it came and as it was answered.
type Call struct {
	// Method is for example "chat.postMessage".
	Method string
	// Wall is when it came in real time, Stage in the stage's time.
	Wall, Stage time.Time
	// Params are its arguments, without the token.
	Params map[string]string
	// Status is the HTTP status of the answer; zero if there was none.
	Status int
	// Error is the Slack error code, or empty if the answer was ok.
	Error string
	// Fault names the fault that hit the call.
	Fault string
	// TS is the timestamp of the message that was written or edited.
	TS string
}
