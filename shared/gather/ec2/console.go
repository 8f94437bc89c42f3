package ec2

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/smithy-go"

	"rollcall/shared/gather/source"
	"rollcall/shared/snapshot"
)

// Consoles gets what instances wrote to their serial consoles.
type Consoles interface {
	GetConsoleOutput(context.Context, *ec2.GetConsoleOutputInput, ...func(*ec2.Options)) (*ec2.GetConsoleOutputOutput, error)
}

// consoles are a sample of those of instances that should have joined by now,
// or that ended before they did.
func consoles(api Consoles) source.Source {
	return source.Source{
		Name: snapshot.Consoles,
		After: []snapshot.Source{
			snapshot.Nodes, // which tell who has joined
		},
		Calls: []source.Call{
			{Action: "ec2:GetConsoleOutput", Resources: []string{"arn:${Partition}:ec2:${Region}:${Account}:instance/*"}},
		},
		Read: func(ctx context.Context, v *source.View) (source.Store, error) {
			return readConsoles(ctx, api, v)
		},
	}
}

const (
	// maxConsoles bounds the consoles that are read in one look: EC2 gives 64
	// KiB of each, and allows few of these calls a second.
	maxConsoles = 10
	// consolesOfOne is how many are read of instances that should be alike: a
	// second one tells whether the first was a whim.
	consolesOfOne = 2
)

func readConsoles(ctx context.Context, api Consoles, v *source.View) (source.Store, error) {
	type kind struct {
		owner    string
		template snapshot.TemplateRef
	}
	read := map[kind]int{}
	var list []snapshot.Console
	lacks := map[string]snapshot.Failure{}
	for _, in := range v.NotJoined() {
		k := kind{in.Owner(), in.Template}
		if len(list)+len(lacks) >= maxConsoles || read[k] >= consolesOfOne || !in.Ended() && !overdue(v, in.ID) {
			continue
		}
		read[k]++
		c, err := readConsole(ctx, api, in)
		if err != nil {
			f := *v.Source.Failure(err)
			if f.Reason == snapshot.Denied {
				return nil, err
			}
			lacks[in.ID] = f
			continue
		}
		list = append(list, c)
	}
	list = source.Sorted(list, func(c snapshot.Console) string { return c.Instance })
	return func(s *snapshot.Snapshot) {
		s.Consoles = list
		source.LackAll(s, snapshot.Consoles, lacks)
	}, nil
}

func overdue(v *source.View, id string) bool {
	for _, launch := range v.Snapshot.Launches {
		if launch.Instance == id {
			return !launch.Due.IsZero() && launch.Due.Before(v.Snapshot.Time)
		}
	}
	return false
}

// readConsole reads an instance's console. Of one that runs it is as it is now, which only
// Nitro instances can tell; of others, and of one that has ended, EC2 has what was posted when
// it last started or ended, for an hour at least (EC2 API reference, GetConsoleOutput,
// "Latest"; NixOS/amis#4, edgelesssys/constellation#2926: the two have different ends of the
// log). Where one has nothing the other is asked for.
func readConsole(ctx context.Context, api Consoles, in snapshot.Instance) (snapshot.Console, error) {
	id := in.ID
	out, err := api.GetConsoleOutput(ctx, &ec2.GetConsoleOutputInput{InstanceId: aws.String(id), Latest: latest(!in.Ended())})
	var refused smithy.APIError
	if err == nil && aws.ToString(out.Output) == "" ||
		errors.As(err, &refused) && (refused.ErrorCode() == "UnsupportedOperation" || refused.ErrorCode() == "IncorrectInstanceState") {
		other, failed := api.GetConsoleOutput(ctx, &ec2.GetConsoleOutputInput{InstanceId: aws.String(id), Latest: latest(in.Ended())})
		if failed == nil || err != nil {
			out, err = other, failed
		}
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

func latest(wanted bool) *bool {
	if !wanted {
		return nil
	}
	return aws.Bool(true)
}
