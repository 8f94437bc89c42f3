package world

import (
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/simaws/worldfile"
)

// many is a world with so many interfaces left behind in large subnets.
func many(tb testing.TB, n int) *World {
	tb.Helper()
	f := &worldfile.File{Name: "many", Time: time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)}
	f.EC2.Vpcs = []ec2types.Vpc{{VpcId: aws.String("vpc-1"), CidrBlock: aws.String("10.0.0.0/8")}}
	for i := range n/60_000 + 1 {
		f.EC2.Subnets = append(f.EC2.Subnets, ec2types.Subnet{SubnetId: aws.String(fmt.Sprintf("subnet-%d", i)), VpcId: aws.String("vpc-1"),
			AvailabilityZone: aws.String("us-west-2a"), CidrBlock: aws.String(fmt.Sprintf("10.%d.0.0/16", i))})
	}
	for i := range n {
		f.EC2.NetworkInterfaces = append(f.EC2.NetworkInterfaces, ec2types.NetworkInterface{
			NetworkInterfaceId: aws.String(fmt.Sprintf("eni-%017x", i)), SubnetId: aws.String(fmt.Sprintf("subnet-%d", i/60_000)),
			Description: aws.String(fmt.Sprintf("aws-K8S-i-%017x", i)),
		})
	}
	w, err := New(f, Options{Seed: 1})
	if err != nil {
		tb.Fatal(err)
	}
	return w
}

// pages goes over all interfaces and calls each after every page.
func pages(tb testing.TB, w *World, each func(page []ec2types.NetworkInterface)) (n int) {
	tb.Helper()
	in := &ec2.DescribeNetworkInterfacesInput{MaxResults: aws.Int32(1000), Filters: []ec2types.Filter{
		{Name: aws.String("vpc-id"), Values: []string{"vpc-1"}}, {Name: aws.String("status"), Values: []string{"available"}},
	}}
	for {
		out, err := w.EC2().DescribeNetworkInterfaces(in)
		if err != nil {
			tb.Fatal(err)
		}
		n += len(out.NetworkInterfaces)
		each(out.NetworkInterfaces)
		if out.NextToken == nil {
			return n
		}
		in.NextToken = out.NextToken
	}
}

// Pages stay whole while resources go: also when the one that the next page
// would begin with is gone.
func TestPagesWhileInterfacesGo(t *testing.T) {
	w := many(t, 5000)
	deleted := 0
	n := pages(t, w, func(page []ec2types.NetworkInterface) {
		last := w.Interfaces.Number(*page[len(page)-1].NetworkInterfaceId)
		for _, eni := range w.Interfaces.All() {
			if number := w.Interfaces.Number(*eni.NetworkInterfaceId); number <= last+3 && number > last-500 {
				w.DropInterface(eni)
				deleted++
			}
		}
	})
	if n != 5000-4*3 || deleted < 2000 {
		t.Errorf("%d interfaces were listed while %d went, want all but the twelve that went before their page", n, deleted)
	}
}

func TestPageOfIDs(t *testing.T) {
	w := many(t, 10)
	id := func(i int) string { return fmt.Sprintf("eni-%017x", i) }
	out, err := w.EC2().DescribeNetworkInterfaces(&ec2.DescribeNetworkInterfacesInput{NetworkInterfaceIds: []string{id(7), id(2), id(7)}})
	if err != nil || len(out.NetworkInterfaces) != 2 || *out.NetworkInterfaces[0].NetworkInterfaceId != id(2) {
		t.Errorf("got %d interfaces (%v), want the second and the seventh, in order", len(out.NetworkInterfaces), err)
	}
	if _, err := w.EC2().DescribeNetworkInterfaces(&ec2.DescribeNetworkInterfacesInput{NextToken: aws.String("bmV4dDp4")}); err == nil {
		t.Error("a token that is no number was taken")
	}
}

// The time of going over all interfaces in pages grows with their number, not
// with its square.
func BenchmarkPages(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			w := many(b, n)
			for b.Loop() {
				if got := pages(b, w, func([]ec2types.NetworkInterface) {}); got != n {
					b.Fatalf("%d interfaces, want %d", got, n)
				}
			}
		})
	}
}
