package fiojob

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// ofForeignEngines are names in fio's manual of engines that are not to be had, or that stand for no option.
var ofForeignEngines = strings.Fields(`apptag apptag_mask arguments bindname block busy_poll cdb_len chunk_size clientname clustername cmd_type
	conf cont cpuchunks cpuload cpumode cuda_io device-names dir donorname exit_on_io_done gpu_dev_ids grace_time hdfsdirectory hostname http_host
	http_mode http_object_mode http_pass http_s3_key http_s3_keyid http_s3_region http_s3_security_token http_s3_sse_customer_algorithm
	http_s3_sse_customer_key http_s3_storage_class http_swift_auth_token http_user http_verbose https inplace int interface irange
	large-block-op-kbytes libblkio_driver libblkio_force_enable_completion_eventfd libblkio_num_entries libblkio_path libblkio_pre_connect_props
	libblkio_pre_start_props libblkio_queue_size libblkio_vectored libblkio_wait_mode libblkio_write_zeroes_on_trim listen load md_per_io_size mss
	namenode nfs_url no_completion_thread nodelay numruns object_class pi_act pi_chk pingpong pool port prep program proto protocol rados
	rbd_encryption_format rbd_encryption_passphrase rbdname read-req-num-512-blocks read_mode readfua rocm_io sg_write_mode skip_bad stat_type
	std_redirect str stream_id test-duration threads threads-per-queue time touch_objects ttl uri verb verify_bytchk verify_mode window_size
	write_mode write_zone_remainders writefua xnvme_admin xnvme_async xnvme_dev_nsid xnvme_dev_subnqn xnvme_iovec xnvme_mem xnvme_sync`)

// Every option that fio's manual names is in the table, but for those of engines that are not to be had.
func TestManualsOptions(t *testing.T) {
	names, err := os.ReadFile(filepath.Join("testdata", "manual-names.txt"))
	if err != nil {
		t.Fatal(err)
	}
	list := strings.Fields(string(names))
	if len(list) < 300 {
		t.Errorf("only %d names", len(list))
	}
	for _, name := range list {
		if known, foreign := Lookup(name) != nil, slices.Contains(ofForeignEngines, name); known == foreign {
			t.Errorf("%s: in the table %v, of foreign engines %v", name, known, foreign)
		}
	}
}

// The table says why wherever an option is not what it is to fio, has no name twice, and says of none that it is
// honoured which no code asks for.
func TestTableIsTrue(t *testing.T) {
	seen := map[string]bool{}
	code := sources(t, ".", "../../result/fioout", "../../cmd/blkstorm")
	for i := range Options {
		o := &Options[i]
		for _, name := range append([]string{o.Name}, o.Aliases...) {
			if seen[name] {
				t.Errorf("%s is there twice", name)
			}
			seen[name] = true
		}
		if (o.Effect == Honoured) != (o.Note == "") {
			t.Errorf("%s is %s, and its note is %q", o.Name, o.Effect, o.Note)
		}
		if o.Effect == Honoured && !strings.Contains(code, `"`+o.Name+`"`) {
			t.Errorf("%s is said to be honoured, and no code has it", o.Name)
		}
	}
}

// sources are all Go files of folders, without tests and tables.
func sources(t *testing.T, folders ...string) string {
	t.Helper()
	table := regexp.MustCompile(`^table_|_test\.go$`)
	var all strings.Builder
	for _, folder := range folders {
		names, err := filepath.Glob(filepath.Join(folder, "*.go"))
		if err != nil || len(names) == 0 {
			t.Fatal(folder, err)
		}
		for _, name := range names {
			if table.MatchString(filepath.Base(name)) {
				continue
			}
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			all.Write(text)
		}
	}
	return all.String()
}
