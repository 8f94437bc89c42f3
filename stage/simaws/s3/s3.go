// Package s3 is Amazon S3 as the stage needs it: objects that are made, read and listed in
// the buckets of the template, and that go when their days are over.
package s3

import (
	"crypto/md5"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"rollcall/stage/platform/template"
)

// Server answers S3's requests, one bucket and key in the path of each. Who may ask is
// judged before.
type Server struct {
	now func() time.Time
	// account owns the buckets, region is where they are.
	account, region string

	mu      sync.Mutex
	buckets map[string]*bucket
}

type bucket struct {
	expireDays int
	encryption string
	objects    map[string]object
	// foreign is set for a bucket of another account.
	foreign bool
	// settings are the documents that were put on it: publicAccessBlock, policy, …
	settings map[string][]byte
}

type object struct {
	body        []byte
	contentType string
	made        time.Time
}

// New makes the buckets of a template, empty, in an account and region.
func New(list []template.S3Bucket, account, region string, now func() time.Time) *Server {
	s := &Server{now: now, account: account, region: region, buckets: map[string]*bucket{}}
	for _, b := range list {
		s.Add(b)
	}
	return s
}

// Add makes a bucket of a template, empty. One that is there stays as it is.
func (s *Server) Add(b template.S3Bucket) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.buckets[b.Name] == nil {
		s.buckets[b.Name] = &bucket{expireDays: b.ExpireDays, encryption: b.Encryption, objects: map[string]object{}, settings: map[string][]byte{}}
	}
}

// AddForeign makes a bucket of another account: names are unique among all accounts of a
// partition (S3 user guide, "Bucket naming rules").
func (s *Server) AddForeign(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.buckets[name] = &bucket{foreign: true, objects: map[string]object{}}
}

// Setting is a document that was put on a bucket ("policy", "publicAccessBlock", "encryption",
// "ownershipControls"); nil where there is none.
func (s *Server) Setting(name, document string) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if b := s.buckets[name]; b != nil {
		return b.settings[document]
	}
	return nil
}

// Remove takes a bucket away with all that is in it, as an operator may.
func (s *Server) Remove(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.buckets, name)
}

// Keys are those of a bucket's objects, sorted.
func (s *Server) Keys(name string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if b := s.buckets[name]; b != nil {
		b.expire(s.now())
		return slices.Sorted(maps.Keys(b.objects))
	}
	return nil
}

// Object is an object's body, nil where there is none.
func (s *Server) Object(name, key string) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if b := s.buckets[name]; b != nil {
		b.expire(s.now())
		return b.objects[key].body
	}
	return nil
}

// mostBody is S3's largest object in one PUT, were it not for the stage's own bound.
const mostBody = 64 << 20

// ServeHTTP answers a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	b := s.buckets[name]
	owner := r.Header.Get("X-Amz-Expected-Bucket-Owner")
	switch {
	case key == "" && r.Method == http.MethodPut && r.URL.RawQuery == "":
		s.create(w, name, b, r)
		return
	// S3 user guide, "Verifying bucket ownership with bucket owner condition".
	case b != nil && (b.foreign || owner != "" && owner != s.account):
		refuse(w, r, http.StatusForbidden, "AccessDenied", "Access Denied")
		return
	}
	if b == nil {
		refuse(w, r, http.StatusNotFound, "NoSuchBucket", "The specified bucket does not exist")
		return
	}
	b.expire(s.now())
	switch {
	case key == "" && r.Method == http.MethodHead:
	case key == "" && r.Method == http.MethodPut:
		b.set(w, r)
	case key == "" && r.Method == http.MethodDelete:
		if len(b.objects) > 0 {
			refuse(w, r, http.StatusConflict, "BucketNotEmpty", "The bucket you tried to delete is not empty")
			return
		}
		delete(s.buckets, name)
		w.WriteHeader(http.StatusNoContent)
	case key == "":
		b.list(w, name, r)
	case r.Method == http.MethodDelete: // what is not there is deleted, too
		delete(b.objects, key)
		w.WriteHeader(http.StatusNoContent)
	case r.Method == http.MethodPut:
		b.put(w, key, r, s.now())
	default:
		b.get(w, key, r)
	}
}

// create makes a bucket. For its owner it is an error of its own, but in us-east-1, where it
// succeeds again; outside us-east-1 the region must be named (S3 API reference, CreateBucket, "Errors" and
// LocationConstraint).
func (s *Server) create(w http.ResponseWriter, name string, there *bucket, r *http.Request) {
	var in struct {
		LocationConstraint string
	}
	body, err := io.ReadAll(r.Body)
	if err == nil && len(body) > 0 {
		err = xml.Unmarshal(body, &in)
	}
	region := in.LocationConstraint
	if region == "" {
		region = "us-east-1"
	}
	switch {
	case err != nil:
		refuse(w, r, http.StatusBadRequest, "MalformedXML", "The XML you provided was not well-formed or did not validate against our published schema")
	case there != nil && there.foreign:
		refuse(w, r, http.StatusConflict, "BucketAlreadyExists", "The requested bucket name is not available. The bucket namespace is shared by all users of the system. Please select a different name and try again.")
	case there != nil && s.region != "us-east-1":
		refuse(w, r, http.StatusConflict, "BucketAlreadyOwnedByYou", "Your previous request to create the named bucket succeeded and you already own it.")
	case region != s.region:
		refuse(w, r, http.StatusBadRequest, "IllegalLocationConstraintException", "The unspecified location constraint is incompatible for the region specific endpoint this request was sent to.")
	case there == nil:
		s.buckets[name] = &bucket{encryption: "AES256", objects: map[string]object{}, settings: map[string][]byte{}}
	}
}

// set puts a document on a bucket. A checksum of it is required (S3 API reference,
// PutBucketPolicy and others).
func (b *bucket) set(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil || !digests(w, r, body) {
		return
	}
	if r.Header.Get("Content-MD5") == "" && r.Header.Get("X-Amz-Checksum-Sha256") == "" {
		refuse(w, r, http.StatusBadRequest, "InvalidRequest", "Missing required header for this request: Content-MD5 OR x-amz-checksum-*")
		return
	}
	name, _, _ := strings.Cut(r.URL.RawQuery, "=")
	b.settings[name] = body
}

// digests reports whether a body has the checksums that its request names; else it refuses.
func digests(w http.ResponseWriter, r *http.Request, body []byte) bool {
	if sum := r.Header.Get("Content-MD5"); sum != "" {
		if is := md5.Sum(body); sum != base64.StdEncoding.EncodeToString(is[:]) {
			refuse(w, r, http.StatusBadRequest, "BadDigest", "The Content-MD5 you specified did not match what we received.")
			return false
		}
	}
	// S3 user guide, "Checking object integrity": an upload of which the sum differs fails.
	if sum := r.Header.Get("X-Amz-Checksum-Sha256"); sum != "" {
		if is := sha256.Sum256(body); sum != base64.StdEncoding.EncodeToString(is[:]) {
			refuse(w, r, http.StatusBadRequest, "BadDigest", "The SHA256 you specified did not match the calculated checksum.")
			return false
		}
	}
	return true
}

// expire deletes what is over: a lifecycle's days are counted from when an object was
// made, and end at the next midnight UTC (S3 user guide, "Lifecycle rules: based on an
// object's age").
func (b *bucket) expire(now time.Time) {
	if b.expireDays == 0 {
		return
	}
	const day = 24 * time.Hour
	maps.DeleteFunc(b.objects, func(_ string, o object) bool {
		over := o.made.UTC().Add(time.Duration(b.expireDays) * day)
		if midnight := over.Truncate(day); midnight.Before(over) {
			over = midnight.Add(day)
		}
		return !now.Before(over)
	})
}

// put makes an object. With If-None-Match: * it replaces none: 412 PreconditionFailed
// (S3 API reference, PutObject).
func (b *bucket) put(w http.ResponseWriter, key string, r *http.Request, now time.Time) {
	body, err := io.ReadAll(io.LimitReader(r.Body, mostBody+1))
	if err != nil || len(body) > mostBody {
		refuse(w, r, http.StatusBadRequest, "EntityTooLarge", "Your proposed upload exceeds the maximum allowed size")
		return
	}
	if !digests(w, r, body) {
		return
	}
	switch condition := r.Header.Get("If-None-Match"); condition {
	case "":
	case "*":
		if _, there := b.objects[key]; there {
			refuse(w, r, http.StatusPreconditionFailed, "PreconditionFailed", "At least one of the pre-conditions you specified did not hold")
			return
		}
	default:
		refuse(w, r, http.StatusNotImplemented, "NotImplemented", "A header you provided implies functionality that is not implemented")
		return
	}
	b.objects[key] = object{body, r.Header.Get("Content-Type"), now}
	w.Header().Set("ETag", etag(body))
	w.Header().Set("X-Amz-Server-Side-Encryption", b.encryption)
}

func (b *bucket) get(w http.ResponseWriter, key string, r *http.Request) {
	o, there := b.objects[key]
	if !there {
		refuse(w, r, http.StatusNotFound, "NoSuchKey", "The specified key does not exist.")
		return
	}
	h := w.Header()
	h.Set("Content-Type", o.contentType)
	h.Set("ETag", etag(o.body))
	h.Set("Last-Modified", o.made.UTC().Format(http.TimeFormat))
	h.Set("X-Amz-Server-Side-Encryption", b.encryption)
	if r.Header.Get("X-Amz-Checksum-Mode") == "ENABLED" {
		sum := sha256.Sum256(o.body)
		h.Set("X-Amz-Checksum-Sha256", base64.StdEncoding.EncodeToString(sum[:]))
	}
	if r.Method == http.MethodHead {
		h.Set("Content-Length", strconv.Itoa(len(o.body)))
		return
	}
	// The answer is kept in memory.
	_, _ = w.Write(o.body)
}

// list answers ListObjectsV2: one page, which is as long as there are objects.
func (b *bucket) list(w http.ResponseWriter, name string, r *http.Request) {
	type entry struct {
		Key          string
		LastModified string
		ETag         string
		Size         int
		StorageClass string
	}
	prefix := r.URL.Query().Get("prefix")
	answer := struct {
		XMLName     xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ ListBucketResult"`
		Name        string
		Prefix      string
		KeyCount    int
		MaxKeys     int
		IsTruncated bool
		Contents    []entry
	}{Name: name, Prefix: prefix, MaxKeys: 1000}
	for _, key := range slices.Sorted(maps.Keys(b.objects)) {
		if o := b.objects[key]; strings.HasPrefix(key, prefix) {
			answer.Contents = append(answer.Contents, entry{key, o.made.UTC().Format("2006-01-02T15:04:05.000Z"), etag(o.body), len(o.body), "STANDARD"})
		}
	}
	answer.KeyCount = len(answer.Contents)
	body, err := xml.Marshal(answer)
	if err != nil {
		refuse(w, r, http.StatusInternalServerError, "InternalError", err.Error())
		return
	}
	w.Header().Set("Content-Type", "application/xml")
	_, _ = w.Write(body)
}

// etag is that of an object that was put in one part, and is encrypted with S3's own keys.
func etag(body []byte) string {
	sum := md5.Sum(body)
	return `"` + hex.EncodeToString(sum[:]) + `"`
}

func refuse(w http.ResponseWriter, r *http.Request, status int, code, message string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	if r.Method == http.MethodHead {
		return // an answer to HEAD has no body, and so no code
	}
	fmt.Fprintf(w, `<?xml version="1.0" encoding="UTF-8"?>`+"\n<Error><Code>%s</Code><Message>%s</Message><RequestId>%s</RequestId></Error>", code, message, r.Header.Get("X-Amz-Date"))
}
