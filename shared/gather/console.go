package gather

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/smithy-go"

	"rollcall/shared/snapshot"
)

// Consoles gets what instances wrote to their serial consoles.
type Consoles interface {
	GetConsoleOutput(context.Context, *ec2.GetConsoleOutputInput, ...func(*ec2.Options)) (*ec2.GetConsoleOutputOutput, error)
}

const (
	// maxConsoles bounds the consoles that are read in one look: EC2 gives 64
	// KiB of each, and allows few of these calls a second.
	maxConsoles = 10
	// consolesOfOne is how many are read of instances that should be alike: a
	// second one tells whether the first was a whim.
	consolesOfOne = 2
)

// consoles reads a sample of the consoles of instances that should have joined
// by now, or that ended before they did.
func (l *look) consoles(ctx context.Context) (store, error) {
	type kind struct {
		owner    string
		template snapshot.TemplateRef
	}
	read := map[kind]int{}
	var list []snapshot.Console
	lacks := map[string]snapshot.Failure{}
	for _, in := range l.suspects() {
		k := kind{in.Owner(), in.Template}
		if len(list)+len(lacks) >= maxConsoles || read[k] >= consolesOfOne || !in.Ended() && !l.overdue(in.ID) {
			continue
		}
		read[k]++
		c, err := l.r.readConsole(ctx, in.ID)
		if err != nil {
			f := *failure(snapshot.Consoles, call(snapshot.Consoles), err)
			if f.Reason == snapshot.Denied {
				return nil, err
			}
			lacks[in.ID] = f
			continue
		}
		list = append(list, c)
	}
	list = sorted(list, func(c snapshot.Console) string { return c.Instance })
	return func(s *snapshot.Snapshot) {
		s.Consoles = list
		lackAll(s, snapshot.Consoles, lacks)
	}, nil
}

func (l *look) overdue(id string) bool {
	for _, launch := range l.s.Launches {
		if launch.Instance == id {
			return !launch.Due.IsZero() && launch.Due.Before(l.s.Time)
		}
	}
	return false
}

// readConsole reads an instance's console as it is now. Only Nitro instances
// can tell; of others EC2 has what they wrote when they last started or ended.
func (r *Reader) readConsole(ctx context.Context, id string) (snapshot.Console, error) {
	out, err := r.consoles.GetConsoleOutput(ctx, &ec2.GetConsoleOutputInput{InstanceId: aws.String(id), Latest: aws.Bool(true)})
	var api smithy.APIError
	if errors.As(err, &api) && api.ErrorCode() == "UnsupportedOperation" {
		out, err = r.consoles.GetConsoleOutput(ctx, &ec2.GetConsoleOutputInput{InstanceId: aws.String(id)})
	}
	if err != nil {
		return snapshot.Console{}, fmt.Errorf("get the console output of %s: %w", id, err)
	}
	text, err := base64.StdEncoding.DecodeString(aws.ToString(out.Output))
	if err != nil {
		return snapshot.Console{}, fmt.Errorf("decode the console output of %s: %w", id, err)
	}
	// The output is cut to its last 64 KiB, in the middle of a character too.
	return snapshot.Console{Instance: id, Text: strings.ToValidUTF8(string(text), "\uFFFD"), At: aws.ToTime(out.Timestamp)}, nil
}
