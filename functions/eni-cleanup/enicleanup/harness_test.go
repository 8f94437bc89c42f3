package enicleanup

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/functions/eni-cleanup/spec"
	"rollcall/local/platform/template"
	"rollcall/local/stage/stagetest"
	"rollcall/shared/gather"
	"rollcall/shared/lambda"
	"rollcall/shared/network/leak"
	"rollcall/shared/report"
)

// What is in the world of these tests.
const (
	vpc    = "vpc-0a1b2c3d4e5f60718"
	subnet = "subnet-0b20000000000000b"
	other  = "subnet-0b20000000000000c"
	alive  = "i-0d0000000000000a1"
	halted = "i-0d0000000000005a5" // stopped
	dead   = "i-0dead000000000001" // EC2 does not know it
)

// cadence is the schedule's.
const cadence = 15 * time.Minute

// harness is the world, and the function in it.
type harness struct {
	*stagetest.Bench
	t testing.TB
	// devices are the interfaces that somebody attached to a machine.
	devices int
}

func open(t testing.TB, o stagetest.Options) *harness {
	t.Helper()
	o.Over = `
ec2:
  Instances:
    - {InstanceId: ` + halted + `, SubnetId: ` + subnet + `, PrivateIpAddress: 10.42.140.9, LaunchTime: 2026-11-12T09:14:06Z, InstanceType: m5.24xlarge, State: {Code: 80, Name: stopped}}
` + o.Over
	settings := map[string]string{"ROLLCALL_CLEANUP": stagetest.Cluster + "=delete", "ROLLCALL_CLEANUP_SHARE": "100"}
	for k, v := range o.Settings {
		settings[k] = v
	}
	o.Settings = settings
	s := &harness{t: t}
	s.Bench = stagetest.Start(t, spec.Spec(), Build, o)
	return s
}

// handlerOf is a function that knows nothing of earlier ones. A transport, if
// any, is put before its clients.
func handlerOf(e lambda.Env, transport http.RoundTripper) lambda.Handler {
	if transport != nil {
		e.AWS.HTTPClient = &http.Client{Transport: transport}
	}
	return assemble(e, readerOf(e)).handle
}

func readerOf(e lambda.Env) Reader { return gather.New(e.AWS) }

// made is what an interface is made with.
type made struct {
	description string
	tags        map[string]string
	subnet      string
	secondary   int
}

// left is what a dead node leaves behind.
func (s *harness) left() made {
	return made{
		description: "aws-K8S-" + dead, subnet: subnet, secondary: 2,
		tags: map[string]string{leak.TagInstance: dead, leak.TagCreated: s.Now().Add(-time.Hour).UTC().Format(time.RFC3339), leak.TagCluster: stagetest.Cluster},
	}
}

// make makes an interface, and gives its id.
func (s *harness) make(m made) string {
	s.t.Helper()
	in := &ec2.CreateNetworkInterfaceInput{SubnetId: &m.subnet, Description: &m.description, SecondaryPrivateIpAddressCount: aws.Int32(int32(m.secondary))}
	spec := ec2types.TagSpecification{ResourceType: ec2types.ResourceTypeNetworkInterface}
	for k, v := range m.tags {
		spec.Tags = append(spec.Tags, ec2types.Tag{Key: aws.String(k), Value: aws.String(v)})
	}
	if len(spec.Tags) > 0 {
		in.TagSpecifications = []ec2types.TagSpecification{spec}
	}
	out, err := s.World.EC2().CreateNetworkInterface(in)
	if err != nil {
		s.t.Fatal(err)
	}
	return aws.ToString(out.NetworkInterface.NetworkInterfaceId)
}

// attachment is what an interface is attached with.
func (s *harness) attachment(id string) string {
	s.t.Helper()
	out, err := s.World.EC2().DescribeNetworkInterfaces(&ec2.DescribeNetworkInterfacesInput{NetworkInterfaceIds: []string{id}})
	if err != nil || len(out.NetworkInterfaces) != 1 || out.NetworkInterfaces[0].Attachment == nil {
		s.t.Fatalf("%s is not attached: %v", id, err)
	}
	return aws.ToString(out.NetworkInterfaces[0].Attachment.AttachmentId)
}

// there tells whether an interface still is.
func (s *harness) there(id string) bool {
	out, err := s.World.EC2().DescribeNetworkInterfaces(&ec2.DescribeNetworkInterfacesInput{NetworkInterfaceIds: []string{id}})
	return err == nil && len(out.NetworkInterfaces) == 1
}

// sweep lets a quarter of an hour pass and the schedule wake the function.
func (s *harness) sweep() {
	s.t.Helper()
	s.Advance(cadence)
	if _, err := s.Handle(s.Sweep()); err != nil {
		s.t.Fatal(err)
	}
}

// audits are the records of the cluster, all of them.
func (s *harness) audits() []leak.Audit {
	s.t.Helper()
	list, err := s.Store.At(s.Now).Audits(s.t.Context(), stagetest.Cluster, time.Time{})
	if err != nil {
		s.t.Fatal(err)
	}
	return list
}

// told are the ids of the events of deletes, in order.
func (s *harness) told() []string {
	s.t.Helper()
	var ids []string
	for _, p := range s.Events() {
		var e struct {
			DetailType string     `json:"detail-type"`
			Detail     leak.Event `json:"detail"`
		}
		if err := json.Unmarshal(p.Event, &e); err != nil {
			s.t.Fatal(err)
		}
		if e.DetailType == leak.DetailType {
			ids = append(ids, e.Detail.ID)
		}
	}
	return ids
}

// sent takes what report was sent.
func (s *harness) sent() (observations []report.Observation, summaries []report.Summary) {
	s.t.Helper()
	i := slices.IndexFunc(s.Template.Queues, func(q template.Queue) bool { return q.FIFO && q.DeadLetterARN != "" })
	arn := s.Template.Queues[i].ARN
	for {
		depth, err := s.Queues.Depth(arn)
		if err != nil {
			s.t.Fatal(err)
		}
		if depth.Visible == 0 {
			return observations, summaries
		}
		messages, err := s.Queues.Receive(s.t.Context(), arn, depth.Visible, 0)
		if err != nil {
			s.t.Fatal(err)
		}
		for _, m := range messages {
			var sum report.Summary
			var obs report.Observation
			if strings.Contains(m.Body, `"kind":"cleanup"`) {
				err = json.Unmarshal([]byte(m.Body), &sum)
				summaries = append(summaries, sum)
			} else {
				obs, err = report.Decode([]byte(m.Body))
				observations = append(observations, obs)
			}
			if err != nil {
				s.t.Fatal(err)
			}
		}
		if err := s.Queues.Delete(arn, messages...); err != nil {
			s.t.Fatal(err)
		}
	}
}
