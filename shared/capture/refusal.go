// Package capture is what those who write captures have in common: the command that
// takes one, and the functions that keep what they read (CAPTURE.md is the contract).
package capture

import (
	"cmp"
	"errors"
	"net"
	"net/http"
	"strconv"
	"strings"

	"github.com/aws/smithy-go"

	"rollcall/shared/kube"
)

// Refusal is an answer that a service refused, by its own code, as errors.json has it.
type Refusal struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// LeftOut is what was not asked for, or not kept, as left-out.json has it.
type LeftOut struct {
	// File is the name of the file that is not there or lacks it, without .json.
	File string `json:"file"`
	Why  string `json:"why"`
}

// noAnswer is the code of a call that no service answered.
const noAnswer = "NoAnswer"

// RefusalOf is how a call was refused. EC2 adds to a denial what only its owner can
// decode (DecodeAuthorizationMessage).
func RefusalOf(err error) Refusal {
	var status *kube.StatusError
	var api smithy.APIError
	var network *net.OpError
	switch {
	case errors.As(err, &status):
		return Refusal{Code: cmp.Or(status.Reason, reason(status.Code)), Message: status.Message}
	case errors.As(err, &api):
		message, _, _ := strings.Cut(api.ErrorMessage(), " Encoded authorization failure message:")
		return Refusal{Code: api.ErrorCode(), Message: message}
	case errors.As(err, &network):
		return Refusal{Code: noAnswer, Message: network.Error()}
	}
	return Refusal{Code: noAnswer, Message: err.Error()}
}

// reason is what Kubernetes calls a status where the answer does not say it: a group that
// the cluster has not is answered with a page of text.
func reason(status int) string {
	switch status {
	case http.StatusNotFound:
		return "NotFound"
	case http.StatusForbidden:
		return "Forbidden"
	case http.StatusUnauthorized:
		return "Unauthorized"
	}
	return strconv.Itoa(status)
}
