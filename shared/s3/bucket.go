package s3

import (
	"bytes"
	"context"
	"crypto/md5"
	"crypto/sha256"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"io"
	"net/url"
	"strconv"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"rollcall/shared/awscall"
)

// Bucket is a bucket of a known account. All of its calls name the account: S3 refuses them
// where the bucket is another's (S3 user guide, "Verifying bucket ownership with bucket owner
// condition").
type Bucket struct {
	Client        *Client
	Name, Account string
}

// request is one call on the bucket.
type request struct {
	operation, method, key, query string
	header                        map[string]string
	body                          []byte
	read                          func(*smithyhttp.Response) error
}

func (b Bucket) call(ctx context.Context, r request) error {
	return awscall.Make(ctx, b.Client.cfg, awscall.Call{
		ID: "S3", Name: "s3", Operation: r.operation, Region: b.Client.cfg.Region, PlainPath: true,
		Write: func(req *smithyhttp.Request, _ any) (*smithyhttp.Request, error) {
			var err error
			if req.URL, err = url.Parse(b.Client.address(b.Name, r.key) + r.query); err != nil {
				return nil, err
			}
			req.Method = r.method
			for k, v := range r.header {
				req.Header.Set(k, v)
			}
			if r.operation != "CreateBucket" { // it has no owner yet
				req.Header.Set("X-Amz-Expected-Bucket-Owner", b.Account)
			}
			if r.body == nil {
				return req, nil
			}
			req.Header.Set("Content-Length", strconv.Itoa(len(r.body)))
			req.ContentLength = int64(len(r.body))
			return req.SetStream(bytes.NewReader(r.body))
		},
		Read: func(resp *smithyhttp.Response) (any, error) {
			if r.read != nil {
				return nil, r.read(resp)
			}
			_, err := io.Copy(io.Discard, io.LimitReader(resp.Body, mostAnswer))
			return nil, err
		},
		Refused: refusal,
	}, nil)
}

func coded(err error, code string) bool {
	var api smithy.APIError
	return errors.As(err, &api) && api.ErrorCode() == code
}

// There reports whether the bucket is there and the account's. Another account's is an error.
func (b Bucket) There(ctx context.Context) (bool, error) {
	// An error to HEAD has no body, and so no code.
	err := b.call(ctx, request{operation: "ListObjectsV2", method: "GET", query: "?list-type=2&max-keys=0"})
	if coded(err, "NoSuchBucket") {
		return false, nil
	}
	return err == nil, err
}

// Make creates the bucket. One that the account has already is no error.
func (b Bucket) Make(ctx context.Context) error {
	r := request{operation: "CreateBucket", method: "PUT", body: []byte{}}
	if region := b.Client.cfg.Region; region != "us-east-1" {
		// Outside us-east-1 the region must be named (S3 API reference, CreateBucket).
		r.body = []byte(`<CreateBucketConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><LocationConstraint>` + region + `</LocationConstraint></CreateBucketConfiguration>`)
	}
	err := b.call(ctx, r)
	if coded(err, "BucketAlreadyOwnedByYou") {
		return nil
	}
	return err
}

// Configure puts a document on the bucket: "policy", "publicAccessBlock" or "ownershipControls".
func (b Bucket) Configure(ctx context.Context, operation, what string, document []byte) error {
	sum := md5.Sum(document) // S3 wants a checksum of these (API reference, Content-MD5)
	return b.call(ctx, request{operation: operation, method: "PUT", query: "?" + what + "=", body: document, header: map[string]string{
		"Content-Md5": base64.StdEncoding.EncodeToString(sum[:]),
	}})
}

// Put writes an object. S3 compares its sum with the body (S3 user guide, "Checking object
// integrity").
func (b Bucket) Put(ctx context.Context, key, contentType string, body []byte) error {
	sum := sha256.Sum256(body)
	return b.call(ctx, request{operation: "PutObject", method: "PUT", key: key, body: body, header: map[string]string{
		"Content-Type": contentType, "X-Amz-Server-Side-Encryption": "AES256",
		"X-Amz-Checksum-Sha256": base64.StdEncoding.EncodeToString(sum[:]),
	}})
}

// Keys lists the keys that begin so.
func (b Bucket) Keys(ctx context.Context, prefix string) (keys []string, err error) {
	var page struct {
		IsTruncated           bool
		NextContinuationToken string
		Contents              []struct{ Key string }
	}
	token := ""
	for {
		query := url.Values{"list-type": {"2"}, "prefix": {prefix}}
		if token != "" {
			query.Set("continuation-token", token)
		}
		page.Contents = nil
		err := b.call(ctx, request{operation: "ListObjectsV2", method: "GET", query: "?" + query.Encode(), read: func(resp *smithyhttp.Response) error {
			return xml.NewDecoder(resp.Body).Decode(&page)
		}})
		if err != nil {
			return nil, err
		}
		for _, o := range page.Contents {
			keys = append(keys, o.Key)
		}
		if token = page.NextContinuationToken; !page.IsTruncated {
			return keys, nil
		}
	}
}

// Delete deletes an object.
func (b Bucket) Delete(ctx context.Context, key string) error {
	return b.call(ctx, request{operation: "DeleteObject", method: "DELETE", key: key})
}

// Remove deletes the bucket, which must be empty.
func (b Bucket) Remove(ctx context.Context) error {
	return b.call(ctx, request{operation: "DeleteBucket", method: "DELETE"})
}

// URL is an object's address as CloudFormation takes it.
func (b Bucket) URL(key string) string { return b.Client.address(b.Name, key) }
