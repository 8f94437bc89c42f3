// Package ec2 is the account's EC2 API: one method for each operation, with its
// filters, pages and errors.
package ec2

import (
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/platform/wire"
	"rollcall/local/simaws/deepcopy"
	"rollcall/local/simaws/state"
)

// API is the world's EC2 API, one method for each operation.
type API struct {
	w *state.State
	// caller is the ARN of the role's session that IAM judges calls that launch by;
	// empty is somebody who may do everything, or whom others judge.
	caller string
}

// New is the EC2 API of an account.
func New(w *state.State) API { return API{w: w} }

// For is the EC2 API as a role's session has it, by its ARN.
func For(w *state.State, caller string) API { return API{w, caller} }

// ec2MinPage and ec2MaxPage bound MaxResults in most of EC2's calls.
const (
	ec2MinPage = 5
	ec2MaxPage = 1000
)

// dryRun answers a call that asked only whether it would be allowed.
func dryRun(asked *bool) error {
	if !aws.ToBool(asked) {
		return nil
	}
	return &wire.Error{Code: "DryRunOperation", Message: "Request would have succeeded, but DryRun flag is set.", Status: 412}
}

// notFound makes the error of ids that do not exist.
func notFound(code, kind string) func([]string) *wire.Error {
	return func(ids []string) *wire.Error {
		if len(ids) == 1 {
			return wire.Errorf(code, "The %s '%s' does not exist", kind, ids[0])
		}
		return wire.Errorf(code, "The %ss '%s' do not exist", kind, strings.Join(ids, ", "))
	}
}

// tagsFor are the tags that a create call gives a new resource.
func tagsFor(specs []ec2types.TagSpecification, kind ec2types.ResourceType) []ec2types.Tag {
	var out []ec2types.Tag
	for _, s := range specs {
		if s.ResourceType == kind {
			out = append(out, deepcopy.Of(s.Tags)...)
		}
	}
	return out
}
