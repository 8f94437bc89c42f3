package wire

import (
	"net/url"
	"reflect"
	"strconv"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// BenchmarkEncodePage writes a full page of network interfaces, the largest
// answer that the stage often gives.
func BenchmarkEncodePage(b *testing.B) {
	out := &ec2.DescribeNetworkInterfacesOutput{NetworkInterfaces: make([]types.NetworkInterface, 1000)}
	var f filler
	for i := range out.NetworkInterfaces {
		f.fill(reflect.ValueOf(&out.NetworkInterfaces[i]).Elem(), maxFill-6)
	}
	table := testNames(b)["ec2"]
	call := &Call{Operation: "DescribeNetworkInterfaces"}
	for b.Loop() {
		body, err := encodeXML(table, services()[0], call, out)
		if err != nil {
			b.Fatal(err)
		}
		b.SetBytes(int64(len(body)))
	}
}

// BenchmarkDecodeForm reads a request for 1000 instances.
func BenchmarkDecodeForm(b *testing.B) {
	form := url.Values{}
	for i := range 1000 {
		form.Set("InstanceId."+strconv.Itoa(i+1), "i-0123456789abcdef0")
	}
	table := testNames(b)["ec2"]
	for b.Loop() {
		if err := decodeForm(table, form, &ec2.DescribeInstancesInput{}); err != nil {
			b.Fatal(err)
		}
	}
}
