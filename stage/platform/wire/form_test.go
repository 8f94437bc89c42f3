package wire

import (
	"errors"
	"net/url"
	"reflect"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/google/go-cmp/cmp"
)

func testNames(t testing.TB) names {
	t.Helper()
	table, err := parseNames(namesText)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func TestDecodeForm(t *testing.T) {
	tests := []struct {
		name, service, form string
		in, want            any
		code                string
	}{
		{"filters", "ec2", "Action=DescribeRouteTables&Version=2016-11-15&Filter.2.Name=b&Filter.1.Name=a&Filter.1.Value.1=x&Filter.1.Value.2=y&RouteTableId.1=rtb-1",
			&ec2.DescribeRouteTablesInput{}, &ec2.DescribeRouteTablesInput{
				Filters:       []ec2types.Filter{{Name: aws.String("a"), Values: []string{"x", "y"}}, {Name: aws.String("b")}},
				RouteTableIds: []string{"rtb-1"},
			}, ""},
		{"numbers with gaps keep their order", "ec2", "RouteTableId.10=c&RouteTableId.9=b&RouteTableId.1=a",
			&ec2.DescribeRouteTablesInput{}, &ec2.DescribeRouteTablesInput{RouteTableIds: []string{"a", "b", "c"}}, ""},
		{"a huge number costs nothing", "ec2", "RouteTableId.999999999999=a",
			&ec2.DescribeRouteTablesInput{}, &ec2.DescribeRouteTablesInput{RouteTableIds: []string{"a"}}, ""},
		{"member lists", "autoscaling", "AutoScalingGroupNames.member.1=a&AutoScalingGroupNames.member.2=b",
			&autoscaling.DescribeAutoScalingGroupsInput{}, &autoscaling.DescribeAutoScalingGroupsInput{AutoScalingGroupNames: []string{"a", "b"}}, ""},
		{"empty list", "autoscaling", "AutoScalingGroupNames=",
			&autoscaling.DescribeAutoScalingGroupsInput{}, &autoscaling.DescribeAutoScalingGroupsInput{AutoScalingGroupNames: []string{}}, ""},
		{"nothing", "ec2", "", &ec2.DescribeRouteTablesInput{}, &ec2.DescribeRouteTablesInput{}, ""},
		{"unknown name", "ec2", "Colour=red", &ec2.DescribeRouteTablesInput{}, nil, "UnknownParameter"},
		{"unknown below a list", "ec2", "Filter.1.Colour=red", &ec2.DescribeRouteTablesInput{}, nil, "UnknownParameter"},
		{"not a number in a list", "ec2", "RouteTableId.one=a", &ec2.DescribeRouteTablesInput{}, nil, "UnknownParameter"},
		{"a number in another form", "ec2", "RouteTableId.01=a", &ec2.DescribeRouteTablesInput{}, nil, "UnknownParameter"},
		{"a value where a list is", "ec2", "RouteTableId=a", &ec2.DescribeRouteTablesInput{}, nil, "InvalidParameterValue"},
		{"a list where a value is", "ec2", "NextToken.1=a", &ec2.DescribeRouteTablesInput{}, nil, "InvalidParameterValue"},
		{"another element name", "autoscaling", "AutoScalingGroupNames.item.1=a", &autoscaling.DescribeAutoScalingGroupsInput{}, nil, "UnknownParameter"},
		{"not a boolean", "ec2", "DryRun=maybe", &ec2.DescribeRouteTablesInput{}, nil, "InvalidParameterValue"},
		{"out of range", "ec2", "MaxResults=99999999999", &ec2.DescribeRouteTablesInput{}, nil, "InvalidParameterValue"},
	}
	table := testNames(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			values, err := url.ParseQuery(tt.form)
			if err != nil {
				t.Fatal(err)
			}
			err = decodeForm(table[tt.service], values, tt.in)
			var e *Error
			switch {
			case tt.code == "" && err != nil:
				t.Errorf("error = %v, want none", err)
			case tt.code != "" && (!errors.As(err, &e) || e.Code != tt.code):
				t.Errorf("error = %v, want code %q", err, tt.code)
			case tt.code == "":
				if diff := cmp.Diff(tt.in, tt.want, sameWire); diff != "" {
					t.Errorf("(-got +want):\n%s", diff)
				}
			}
		})
	}
}

// FuzzDecodeForm wants every form either decoded or refused with an API error,
// and a decoded one to hold no more list elements than the form has names.
func FuzzDecodeForm(f *testing.F) {
	f.Add("Action=RunInstances&BlockDeviceMapping.1.Ebs.VolumeSize=8&TagSpecification.1.Tag.1.Key=a")
	f.Add("Filter.1.Value.1=x&Filter.1.Value.99999999999999999999=y")
	f.Add("InstanceId.1=a&InstanceId.1.1=b&InstanceId=c")
	f.Add("Placement.Tenancy=&Placement=1&UserData=!!")
	f.Add("A.....B=1&.=2&=3")
	table := testNames(f)
	f.Fuzz(func(t *testing.T, form string) {
		values, err := url.ParseQuery(form)
		if err != nil {
			return
		}
		in := &ec2.RunInstancesInput{}
		if err := decodeForm(table["ec2"], values, in); err != nil {
			var e *Error
			if !errors.As(err, &e) {
				t.Errorf("error = %v, want an API error", err)
			}
			return
		}
		if n := elements(reflect.ValueOf(in)); n > len(form) {
			t.Errorf("%d elements from a form of %d bytes", n, len(form))
		}
	})
}

// elements counts the list elements below v.
func elements(v reflect.Value) int {
	n := 0
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			n = elements(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			n += elements(v.Field(i))
		}
	case reflect.Slice:
		n = v.Len()
		for i := range v.Len() {
			n += elements(v.Index(i))
		}
	}
	return n
}
