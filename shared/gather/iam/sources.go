// Package iam holds the sources that are read of IAM.
package iam

import (
	"github.com/aws/aws-sdk-go-v2/service/iam"

	"rollcall/shared/gather/source"
)

// Sources are all of them.
func Sources(api *iam.Client) []source.Source { return []source.Source{profiles(api), roles(api)} }
