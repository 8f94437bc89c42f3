package main

import (
	"archive/zip"
	"compress/flate"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
)

// size is how large a program is, and its package.
type size struct {
	function        string
	program, zipped int64
}

// sizes are those of the functions in a folder, as make build has built them.
func sizes(folder string) ([]size, error) {
	programs, err := filepath.Glob(filepath.Join(folder, "*", "bootstrap"))
	if err != nil {
		return nil, fmt.Errorf("list the functions: %w", err)
	}
	var list []size
	for _, path := range programs {
		name := filepath.Base(filepath.Dir(path))
		if _, err := os.Stat(filepath.Join("functions", name)); errors.Is(err, os.ErrNotExist) {
			continue // of a build before it was taken away
		}
		s, err := measureSize(path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		s.function = name
		list = append(list, s)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s has no function: make build", folder)
	}
	return list, nil
}

func measureSize(path string) (size, error) {
	f, err := os.Open(path)
	if err != nil {
		return size{}, fmt.Errorf("open a program: %w", err)
	}
	defer f.Close()
	var out counter
	z := zip.NewWriter(&out)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestCompression) })
	w, err := z.Create("bootstrap")
	if err != nil {
		return size{}, fmt.Errorf("make a package: %w", err)
	}
	n, err := io.Copy(w, f)
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		return size{}, fmt.Errorf("zip a program: %w", err)
	}
	return size{program: n, zipped: int64(out)}, nil
}

// counter counts what is written.
type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

// near is by how much a size may be another than the page's before the page is to be
// written anew: of Go's patch releases and of small changes to the code a page need not
// tell.
const near = 0.05

// held holds the sizes on a page against the programs that are built.
func held(page string) error {
	raw, err := os.ReadFile(page)
	if err != nil {
		return fmt.Errorf("read the page: %w", err)
	}
	built, err := sizes(deployed)
	if err != nil {
		return err
	}
	return compare(string(raw), built)
}

// compare holds each function's row against what it is.
func compare(page string, built []size) error {
	rows := regexp.MustCompile(`(?m)^\| ([a-z-]+) \| ([\d.]+) \| ([\d.]+) \|`).FindAllStringSubmatch(page, -1)
	said := map[string][]string{}
	for _, row := range rows {
		said[row[1]] = row[2:]
	}
	var faults []error
	for _, b := range built {
		row, known := said[b.function]
		if !known {
			faults = append(faults, fmt.Errorf("%s is not on the page", b.function))
			continue
		}
		delete(said, b.function)
		for i, is := range []int64{b.zipped, b.program} {
			n, err := strconv.ParseFloat(row[i], 64)
			// A tenth of a MB is what the page tells.
			if err != nil || n*1e6 < float64(is)*(1-near)-1e5 || n*1e6 > float64(is)*(1+near)+1e5 {
				faults = append(faults, fmt.Errorf("%s: the page says %s MB, it is %.1f", b.function, row[i], float64(is)/1e6))
			}
		}
	}
	for name := range said {
		faults = append(faults, fmt.Errorf("%s is on the page, and is not built", name))
	}
	if len(faults) > 0 {
		return fmt.Errorf("make figures: %w", errors.Join(faults...))
	}
	return nil
}
