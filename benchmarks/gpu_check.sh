#!/usr/bin/env bash
# Checks a machine with a GPU in under 8 minutes, and writes all that it found into one JSON file:
# tests that need the GPU, tokens per second of training, a short run on LTL, answers per second.
#
#   benchmarks/gpu_check.sh [--cpu] [--data FOLDER] [-o FILE]
#
#   --cpu          the same without a GPU, much smaller: does this script work?
#   --data FOLDER  use this data set, instead of generating one (which needs Spot): ltl over the names
#                  a to e, with at least 12,288 rows in train, some in validation and test
#   -o FILE        the file to write (default: gpu_check.json)
#
# PYTHON (default: python3) names a Python with what symshift[train] needs, pytest and hypothesis.
# symshift itself need not be installed: this checkout is what is checked.
set -uo pipefail

device=cuda data="" out=gpu_check.json
while [ $# -gt 0 ]; do
  case $1 in
    --cpu) device=cpu ;;
    --data) data=${2:?--data needs a folder}; shift ;;
    -o) out=${2:?-o needs a file}; shift ;;
    *) echo "unknown: $1 (there are --cpu, --data FOLDER, -o FILE)" >&2; exit 2 ;;
  esac
  shift
done

root=$(cd "$(dirname "$0")/.." && pwd)
python=${PYTHON:-python3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PYTHONPATH="$root/.typing${PYTHONPATH:+:$PYTHONPATH}" SYMSHIFT_CACHE="$work/cache"
last=455  # seconds from the start until nothing runs any more

if [ $device = cuda ] && ! "$python" -c 'import sys, torch; sys.exit(not torch.cuda.is_available())'; then
  echo "PyTorch sees no GPU here; --cpu tries the script without one" >&2
  exit 2
fi

# stage NAME LIMIT COMMAND...: runs it in at most LIMIT seconds, and notes its end.
stage() {
  local name=$1 limit=$2 start=$SECONDS code=0
  shift 2
  local left=$((last - SECONDS))
  if [ $left -lt 5 ]; then
    code=-1
  else
    echo "$name ..." >&2
    timeout --kill-after=10 $((left < limit ? left : limit)) "$@" \
      > "$work/$name.out" 2> "$work/$name.err" || code=$?
  fi
  printf '%s\t%s\t%s\n' "$name" $code $((SECONDS - start)) >> "$work/stages"
}

symshift() { stage "$1" "$2" "$python" -m symshift.cli "${@:3}"; }
training() { stage "$1" "$2" "$python" "$root/benchmarks/training.py" --device $device --json --data "$data" "${@:3}"; }

if [ $device = cuda ]; then
  rows=(--train 20000 --validation 256 --test 500 --size 1-35)
  shape=(--rounds 6)
  model=(width=128 num_heads=8 ff_width=512 encoder_layers=4 decoder_layers=4 batch_size=256 steps=2000 lr=1e-3)
  tests=""
else
  rows=(--train 600 --validation 16 --test 20 --size 1-15)
  shape=(--rounds 2 --shape small --batch-size 16 --batches 4)
  model=(width=32 num_heads=2 ff_width=32 batch_size=32 steps=60)
  # Compiling takes a minute here, and says nothing of a GPU.
  tests="not compiled"
  export SYMSHIFT_GPU_TESTS=cpu OMP_NUM_THREADS=1
fi

if [ -z "$data" ]; then
  data=$work/data
  symshift data 90 generate ltl "$data" "${rows[@]}" --symbols 5
fi
run=$work/run answers=$work/answers.jsonl
training training 75 "${shape[@]}"
stage tests 150 "$python" -m pytest "$root/tests/models" -m gpu -k "$tests" -q -p no:cacheprovider --rootdir "$root"
symshift train 120 train "$data" "$run" --method interchangeable --device $device $(printf -- '--set %s ' "${model[@]}")
symshift predict 45 predict "$run" "$data" "$answers" --device $device
symshift score 45 score "$data" "$answers" -o "$work/result.json" --json
stage answering 60 "$python" "$root/benchmarks/gpu_check/answering.py" "$run" "$data" --device $device
training training-float32 60 "${shape[@]}" --set precision=float32
[ $device = cpu ] || training training-compiled 90 "${shape[@]}" --set compile=true

"$python" "$root/benchmarks/gpu_check/summary.py" "$work" "$out"
