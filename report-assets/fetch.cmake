# Fills OUT with the scripts of the pinned packages; WORK is where npm unpacks them.
file(COPY ${SOURCE}/package.json ${SOURCE}/package-lock.json DESTINATION ${WORK})
execute_process(
  COMMAND ${NPM} ci --ignore-scripts --no-audit --no-fund --loglevel=error
  WORKING_DIRECTORY ${WORK}
  RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "report-assets: npm could not fetch the pinned packages; see its message above")
endif()
set(licences "")
file(MAKE_DIRECTORY ${OUT})
foreach(package IN ITEMS vega vega-lite vega-embed)
  set(folder ${WORK}/node_modules/${package})
  file(READ ${folder}/package.json description)
  string(JSON version GET "${description}" version)
  file(READ ${folder}/LICENSE licence)
  string(APPEND licences "${package} ${version}\n\n${licence}\n\n")
  configure_file(${folder}/build/${package}.min.js ${OUT}/${package}.min.js COPYONLY)
endforeach()
file(WRITE ${OUT}/LICENSES.txt "${licences}")
configure_file(${SOURCE}/render.cjs ${OUT}/render.cjs COPYONLY)
# Files that did not change keep their time; the build asks for newer ones.
file(GLOB written ${OUT}/*)
file(TOUCH ${written})
