package ec2

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/smithy-go"

	"rollcall/shared/gather/source"
	"rollcall/shared/snapshot"
)

// InstanceAttributes describes attributes of instances.
type InstanceAttributes interface {
	DescribeInstanceAttribute(context.Context, *ec2.DescribeInstanceAttributeInput, ...func(*ec2.Options)) (*ec2.DescribeInstanceAttributeOutput, error)
}

// UserData is that of the instances that have not joined.
func UserData(api InstanceAttributes) source.Source {
	return source.Source{
		Name: snapshot.UserDataOf,
		After: []snapshot.Source{
			snapshot.Nodes, // which tell who has joined
		},
		Calls: []source.Call{
			{Action: "ec2:DescribeInstanceAttribute", Resources: []string{"arn:${Partition}:ec2:${Region}:${Account}:instance/*"}},
		},
		Read: func(ctx context.Context, v *source.View) (source.Store, error) {
			return readUserData(ctx, api, v)
		},
	}
}

const (
	// MaxUserData bounds how many different user data are read in one look.
	MaxUserData = 10
	// maxTries is how many instances of one kind are asked for theirs: those
	// that end meanwhile have none to give.
	maxTries = 3
	// GroupTag is set by EC2 Auto Scaling on what it launches.
	GroupTag = "aws:autoscaling:groupName"
)

// origin is what decides an instance's user data.
type origin struct {
	template, version, group string
	// image tells the launch configurations that a group has had apart.
	image string
	// instance is set for one that nobody else can stand for.
	instance string
}

func originOf(in snapshot.Instance) origin {
	o := origin{template: in.Template.ID, version: in.Template.Version, group: in.Tags[GroupTag]}
	if o.template == "" {
		o.image = in.AMI
		if o.group == "" {
			o.instance = in.ID
		}
	}
	return o
}

// readUserData reads the user data once for each origin of the instances that have
// not joined: EC2 gives it of one instance at a time.
func readUserData(ctx context.Context, api InstanceAttributes, v *source.View) (source.Store, error) {
	suspects := map[origin][]snapshot.Instance{}
	var order []origin
	for _, in := range v.NotJoined() {
		o := originOf(in)
		if suspects[o] == nil {
			order = append(order, o)
		}
		suspects[o] = append(suspects[o], in)
	}
	sharing := map[origin][]string{}
	for _, in := range v.InScope() {
		o := originOf(in)
		sharing[o] = append(sharing[o], in.ID)
	}
	var list []snapshot.UserData
	lacks := map[string]snapshot.Failure{}
	for i, o := range order {
		if i >= MaxUserData {
			for _, in := range suspects[o] {
				lacks[in.ID] = v.Source.Skipped(fmt.Sprintf("the user data of %d other kinds of instance were read in this look", MaxUserData))
			}
			continue
		}
		got, err := userDataOfAny(ctx, api, suspects[o])
		if err != nil {
			f := *v.Source.Failure(err)
			if f.Reason == snapshot.Denied {
				return nil, err
			}
			for _, in := range suspects[o] {
				lacks[in.ID] = f
			}
			continue
		}
		got.Instances = slices.Sorted(slices.Values(sharing[o]))
		list = append(list, got)
	}
	list = source.Sorted(list, func(u snapshot.UserData) string { return u.From })
	return func(s *snapshot.Snapshot) {
		s.UserData = list
		source.LackAll(s, snapshot.UserDataOf, lacks)
	}, nil
}

// userDataOfAny asks one instance after the other until one has an answer.
func userDataOfAny(ctx context.Context, api InstanceAttributes, of []snapshot.Instance) (snapshot.UserData, error) {
	var err error
	for _, in := range of[:min(len(of), maxTries)] {
		var data []byte
		data, err = userDataOf(ctx, api, in.ID)
		if err == nil && len(data) == 0 && over(in) {
			err = source.ForgottenError{Instance: in.ID}
		}
		if err == nil {
			return snapshot.UserData{From: in.ID, Data: data}, nil
		}
		if !ended(err) {
			break
		}
	}
	return snapshot.UserData{}, err
}

// over tells that an instance is terminated, or will be in a moment. One that is
// stopped keeps its user data.
func over(in snapshot.Instance) bool { return in.State == "shutting-down" || in.State == "terminated" }

func userDataOf(ctx context.Context, api InstanceAttributes, id string) ([]byte, error) {
	out, err := api.DescribeInstanceAttribute(ctx, &ec2.DescribeInstanceAttributeInput{
		InstanceId: aws.String(id), Attribute: types.InstanceAttributeNameUserData,
	})
	if err != nil {
		return nil, fmt.Errorf("describe the user data of %s: %w", id, err)
	}
	if out.UserData == nil {
		return nil, nil
	}
	data, err := base64.StdEncoding.DecodeString(aws.ToString(out.UserData.Value))
	if err != nil {
		return nil, fmt.Errorf("decode the user data of %s: %w", id, err)
	}
	return data, nil
}

// ended tells a refusal because the instance is gone, or going.
func ended(err error) bool {
	var api smithy.APIError
	var forgotten source.ForgottenError
	return errors.As(err, &forgotten) || source.Gone(err) || errors.As(err, &api) && api.ErrorCode() == "IncorrectInstanceState"
}
