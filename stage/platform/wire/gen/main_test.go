package main

import (
	"os"
	"strings"
	"testing"
)

// TestNamesAreFresh generates the table again: it must be the committed one.
func TestNamesAreFresh(t *testing.T) {
	committed, err := os.ReadFile("../names.txt")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		fresh, err := generate(operations, func(service string) (string, error) {
			return goList("-m", "-f", "{{.Dir}}", "github.com/aws/aws-sdk-go-v2/service/"+service)
		})
		if err != nil {
			t.Fatal(err)
		}
		if string(fresh) != string(committed) {
			t.Fatal("names.txt is not what the generator makes: run go generate ./stage/platform/wire")
		}
	}
}

func TestUnknownOperationIsAnError(t *testing.T) {
	_, err := generate("sts GetCallerIdentity DescribeTheWeather", func(service string) (string, error) {
		return goList("-m", "-f", "{{.Dir}}", "github.com/aws/aws-sdk-go-v2/service/"+service)
	})
	if err == nil || !strings.Contains(err.Error(), "DescribeTheWeather") {
		t.Errorf("error = %v, want one that names the operation", err)
	}
}

func TestParseOperations(t *testing.T) {
	if _, err := parseOperations("# comment\n\nec2\n"); err == nil {
		t.Error("a service without operations was accepted")
	}
	got, err := parseOperations("ec2 B A\nsts C\nec2 A D\n")
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || got[0].name != "ec2" || strings.Join(got[0].ops, " ") != "A B D" || got[1].name != "sts" {
		t.Errorf("operations = %v, want ec2 A B D and sts C", got)
	}
}
