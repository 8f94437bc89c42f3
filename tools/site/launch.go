package main

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
)

// launchPages have a place for the links that create a stack in one click.
func launchPages() []string { return []string{"README.md", "docs/install.md"} }

const launchBegin, launchEnd = "<!-- launch -->\n", "<!-- /launch -->\n"

// writeLaunch writes the links into the pages, or takes them out where no bucket is named.
func writeLaunch(bucket, version string, regions []string) error {
	for _, name := range launchPages() {
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		text, err := launch(string(data), bucket, version, regions)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// launch returns a page with a link for each region where the release workflow has put a release
// (job launch), and without any where there is no bucket or no release.
func launch(text, bucket, version string, regions []string) (string, error) {
	before, rest, ok := strings.Cut(text, launchBegin)
	_, after, ends := strings.Cut(rest, launchEnd)
	if !ok || !ends {
		return "", errors.New("there is no place for Launch Stack links")
	}
	table := ""
	if bucket != "" && version != "" && len(regions) > 0 {
		table = "| " + version + " | AWS's console opens with the template: enter the Slack channel, and leave `CodeBucket` and `CodePrefix` as they are |\n|---|---|\n"
		for _, region := range regions {
			table += "| " + region + " | [Launch Stack](" + launchURL(bucket, version, region) + ") |\n"
		}
	}
	return before + launchBegin + table + launchEnd + after, nil
}

// launchURL is a quick-create link (AWS CloudFormation User Guide, "Create quick-create links for
// stacks"). Lambda reads code only from a bucket of its own region.
func launchURL(bucket, version, region string) string {
	bucket, prefix := bucket+"-"+region, "rollcall/"+version+"/"
	q := url.Values{
		"templateURL": {"https://" + bucket + ".s3." + region + ".amazonaws.com/" + prefix + "RollcallStandard.template.json"},
		"stackName":   {"Rollcall"}, "param_CodeBucket": {bucket}, "param_CodePrefix": {prefix},
	}
	return "https://" + region + ".console.aws.amazon.com/cloudformation/home?region=" + region + "#/stacks/create/review?" + q.Encode()
}
