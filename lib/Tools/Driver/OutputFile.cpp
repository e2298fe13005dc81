//===- OutputFile.cpp - Writing a result whole or not at all --------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/Tools/Driver/OutputFile.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include <system_error>

using namespace dtrain;
using namespace llvm;

/// Writes everything; an error left in a raw_fd_ostream would abort the process
/// in its destructor.
static std::error_code writeAll(raw_fd_ostream &stream, StringRef contents) {
  stream << contents;
  stream.flush();
  std::error_code error = stream.error();
  stream.clear_error();
  return error;
}

static std::error_code writeInPlace(StringRef path, StringRef contents) {
  std::error_code error;
  raw_fd_ostream stream(path, error);
  return error ? error : writeAll(stream, contents);
}

static Error writeBeside(StringRef path, StringRef contents) {
  Expected<sys::fs::TempFile> temp =
      sys::fs::TempFile::create(path + ".temp-%%%%%%");
  if (!temp)
    return temp.takeError();
  std::error_code error;
  {
    raw_fd_ostream stream(temp->FD, /*shouldClose=*/false);
    error = writeAll(stream, contents);
  }
  if (!error)
    return temp->keep(path);
  // Why the write failed says more than why the removal did.
  consumeError(temp->discard());
  return errorCodeToError(error);
}

Error dtrain::writeOutputFile(StringRef path, StringRef contents) {
  auto fail = [&](std::error_code error) {
    return createStringError(error,
                             "cannot write '" + path + "': " + error.message());
  };
  sys::fs::file_status status;
  std::error_code error = sys::fs::status(path, status);
  bool exists = !error && sys::fs::exists(status);
  if (exists && sys::fs::is_directory(status))
    return fail(make_error_code(std::errc::is_a_directory));
  if (path == "-" || (exists && !sys::fs::is_regular_file(status))) {
    error = writeInPlace(path, contents);
    return error ? fail(error) : Error::success();
  }
  // Replace what a symbolic link points to, not the link, and refuse a file
  // that may not be written even where its directory may.
  SmallString<128> target(path);
  if (exists) {
    if ((error = sys::fs::access(path, sys::fs::AccessMode::Write)) ||
        (error = sys::fs::real_path(path, target)))
      return fail(error);
  }
  if (Error failure = writeBeside(target, contents))
    return fail(errorToErrorCode(std::move(failure)));
  return Error::success();
}
