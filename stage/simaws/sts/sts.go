// Package sts is the account's STS API, as far as it tells of requests that were
// denied. Who somebody is, package simaws tells.
package sts

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"rollcall/stage/platform/wire"
	"rollcall/stage/simaws/state"
)

// API is the world's STS API, one method for each operation.
type API struct{ w *state.State }

// New is the STS API of an account.
func New(w *state.State) API { return API{w} }

// DecodeAuthorizationMessage decodes a message that this account's requests were
// answered with. Any other is invalid: another account's, a part of one, one that has
// expired (STS API, InvalidAuthorizationMessageException).
func (s API) DecodeAuthorizationMessage(in *sts.DecodeAuthorizationMessageInput) (*sts.DecodeAuthorizationMessageOutput, error) {
	defer s.w.Enter()()
	for _, m := range s.w.File.STS.AuthorizationMessages {
		if m.Encoded == aws.ToString(in.EncodedMessage) && (m.Expires.IsZero() || s.w.Now.Before(m.Expires)) {
			return &sts.DecodeAuthorizationMessageOutput{DecodedMessage: aws.String(m.Decoded)}, nil
		}
	}
	return nil, wire.Errorf("InvalidAuthorizationMessageException", "Message is not valid")
}
